#include "metrics/format.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace wf::metrics {
namespace {

std::string Number(double value) {
  std::string out;
  AppendNumber(&out, value);
  return out;
}

TEST(FormatTest, NumbersAreWrittenAsReadersExpect) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Number(0), "0");
  EXPECT_EQ(Number(-0.0), "-0");
  EXPECT_EQ(Number(3), "3");
  EXPECT_EQ(Number(-17), "-17");
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(1764647951.25), "1764647951.25");
  EXPECT_EQ(Number(9007199254740991), "9007199254740991");
  EXPECT_EQ(Number(1e300), "1e+300");
  EXPECT_EQ(Number(inf), "+Inf");
  EXPECT_EQ(Number(-inf), "-Inf");
  EXPECT_EQ(Number(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(FormatTest, AnyDoubleReadsBackUnchanged) {
  std::mt19937_64 random(42);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (value != value) continue;
    EXPECT_EQ(std::strtod(Number(value).c_str(), nullptr), value);
  }
}

TEST(FormatTest, BoundsAreWrittenAsPrometheus3Does) {
  EXPECT_EQ(BoundText(1), "1.0");
  EXPECT_EQ(BoundText(0.0025), "0.0025");
  EXPECT_EQ(BoundText(28800), "28800.0");
  EXPECT_EQ(BoundText(1e6), "1e+06");
  EXPECT_EQ(BoundText(std::numeric_limits<double>::infinity()), "+Inf");
}

TEST(FormatTest, NamesFollowTheDataModel) {
  for (const char* good : {"a", "_a", "a:b", "A9_"}) EXPECT_TRUE(IsMetricName(good)) << good;
  for (const char* bad : {"", "9a", "a-b", "a b", "\xC3\xA9"}) EXPECT_FALSE(IsMetricName(bad)) << bad;
  for (const char* good : {"a", "_a", "le"}) EXPECT_TRUE(IsLabelName(good)) << good;
  for (const char* bad : {"", "__a", "a:b", "1"}) EXPECT_FALSE(IsLabelName(bad)) << bad;
}

TEST(FormatTest, NamespacePrefixesEveryNameTheSameWay) {
  EXPECT_EQ(QualifiedName("", "duration_seconds"), "duration_seconds");
  EXPECT_EQ(QualifiedName("workflow", "duration_seconds"), "workflow_duration_seconds");
}

TEST(FormatTest, LabelValuesAreEscaped) {
  const std::vector<std::string> names = {"a", "b"};
  const std::vector<std::string> values = {"x\\y\n\"z\"", ""};
  EXPECT_EQ(LabelText(names, values), "a=\"x\\\\y\\n\\\"z\\\"\",b=\"\"");
}

TEST(FormatTest, BytesThatNoPageMayCarryAreReplaced) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(ToPageText("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"), "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(ToPageText(std::string_view("a\0b", 3)), "a" + mark + "b");
  EXPECT_EQ(ToPageText("\xFF"), mark);
  EXPECT_EQ(ToPageText("\xC0\xAF"), mark + mark) << "overlong";
  EXPECT_EQ(ToPageText("\xED\xA0\x80"), mark + mark + mark) << "surrogate";
  EXPECT_EQ(ToPageText("\xF4\x90\x80\x80"), mark + mark + mark + mark) << "above U+10FFFF";
  EXPECT_EQ(ToPageText("\xE2\x82"), mark + mark) << "cut short";
  EXPECT_TRUE(IsPageText(""));
  EXPECT_FALSE(IsPageText(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace wf::metrics
