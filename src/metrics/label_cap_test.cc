#include "metrics/label_cap.h"

#include <gmock/gmock.h>

#include <string>

#include "metrics/registry.h"

namespace wf::metrics {
namespace {

using ::testing::Pair;

TEST(LabelCapTest, PairsOverTheLimitBecomeOtherAndAreCounted) {
  int warnings = 0;
  Registry registry({.most_task_pairs = 2, .warn = [&](std::string_view) { ++warnings; }});
  LabelCap& cap = registry.task_cap();
  EXPECT_THAT(cap.AdmitTask("w", "a"), Pair("w", "a"));
  EXPECT_THAT(cap.AdmitTask("w", "b"), Pair("w", "b"));
  EXPECT_THAT(cap.AdmitTask("w", "c"), Pair("w", "__other__"));
  EXPECT_THAT(cap.AdmitTask("new", "c"), Pair("__other__", "__other__"));
  EXPECT_THAT(cap.AdmitTask("w", "a"), Pair("w", "a")) << "admitted names stay";
  EXPECT_EQ(registry.dropped_label_sets(), 2);
  EXPECT_EQ(warnings, 1);
}

TEST(LabelCapTest, WorkflowsAreBoundedToo) {
  Registry registry({.most_task_pairs = 2, .warn = [](std::string_view) {}});
  LabelCap& cap = registry.task_cap();
  EXPECT_EQ(cap.AdmitWorkflow("a"), "a");
  EXPECT_EQ(cap.AdmitWorkflow("b"), "b");
  EXPECT_EQ(cap.AdmitWorkflow("c"), "__other__");
  EXPECT_EQ(cap.AdmitWorkflow("a"), "a");
}

}  // namespace
}  // namespace wf::metrics
