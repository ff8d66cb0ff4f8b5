#include "report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::report {
namespace {

TEST(TableTest, ColumnsAreAlignedAndLinesHaveNoTrailingSpace) {
  Table table({{"task", Align::kLeft}, {"n"}, {"cause", Align::kLeft}});
  table.AddRow({std::string("naïve"), std::string("1"), std::string()});
  table.AddRow({std::string("x"), std::string("100"), std::string("why")});
  EXPECT_EQ(table.Render({}),
            "task     n  cause\n"
            "naïve    1\n"
            "x      100  why\n");
}

TEST(TableTest, ANarrowTerminalShortensOnlyWhatMayShrink) {
  Table table({{"task", Align::kLeft, true}, {"value"}});
  table.AddRow({std::string("a very long name of a task"), std::string("12345")});
  EXPECT_EQ(table.Render({.width = 20}),
            "task           value\n"
            "a very long …  12345\n");
}

TEST(TableTest, WithoutATerminalNothingIsShortened) {
  Table table({{"task", Align::kLeft, true}});
  table.AddRow({std::string(300, 'x')});
  EXPECT_THAT(table.Render({}), testing::HasSubstr(std::string(300, 'x')));
}

TEST(TableTest, ColourDoesNotCountAsWidth) {
  Table table({{"a", Align::kLeft}, {"b", Align::kLeft}});
  table.AddRow({Cell("x", Tone::kBad), std::string("y")});
  EXPECT_EQ(table.Render({.color = true}), "\x1b[1ma\x1b[0m  \x1b[1mb\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
}

}  // namespace
}  // namespace wf::report
