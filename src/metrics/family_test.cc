#include "metrics/family.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "metrics/exposition.h"
#include "metrics/registry.h"

namespace wf::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CounterTest, StaysExactForWholeAmountsAndRefusesBadOnes) {
  Counter counter;
  counter.Inc();
  counter.Inc(uint64_t{1} << 53);
  EXPECT_TRUE(counter.Add(0.25));
  EXPECT_TRUE(counter.Add(2));
  EXPECT_FALSE(counter.Add(-1));
  EXPECT_FALSE(counter.Add(std::nan("")));
  EXPECT_FALSE(counter.Add(INFINITY));
  EXPECT_EQ(counter.Value(), static_cast<double>((uint64_t{1} << 53) + 3) + 0.25);
}

TEST(GaugeTest, IsAbsentAfterClearUntilTheNextSet) {
  Gauge gauge;
  EXPECT_TRUE(gauge.present());
  gauge.Set(4);
  gauge.Add(-1.5);
  EXPECT_EQ(gauge.Value(), 2.5);
  gauge.Clear();
  EXPECT_FALSE(gauge.present());
  gauge.Add(1);
  EXPECT_EQ(gauge.Value(), 1);
  gauge.Set(std::nan(""));
  EXPECT_TRUE(gauge.present());
}

TEST(FamilyTest, GivesTheSameChildForTheSameValues) {
  Registry registry;
  CounterFamily* family = *registry.AddCounter("rows", "Rows.", {"a", "b"});
  Counter& first = family->At({"x", "y"});
  EXPECT_EQ(&first, &family->At({"x", "y"}));
  EXPECT_NE(&first, &family->At({"xy", ""}));
  EXPECT_NE(&family->At({"xy", ""}), &family->At({"", "xy"}));
}

TEST(FamilyTest, ValuesThatLookAlikeOnThePageShareAChild) {
  Registry registry;
  CounterFamily* family = *registry.AddCounter("rows", "Rows.", {"a"});
  EXPECT_EQ(&family->At({"\xFF"}), &family->At({"\xEF\xBF\xBD"}));
}

TEST(FamilyTest, RemovedGaugeLeavesThePageAndItsHolderIsSafe) {
  Registry registry;
  GaugeFamily* family = *registry.AddGauge("depth", "Depth.", {"q"});
  const std::string_view value = "one";
  const std::shared_ptr<Gauge> held = family->With(LabelValues(&value, 1));
  held->Set(3);
  EXPECT_THAT(Render(registry, Format::kText), HasSubstr("depth{q=\"one\"} 3\n"));
  EXPECT_TRUE(family->Remove(LabelValues(&value, 1)));
  EXPECT_FALSE(family->Remove(LabelValues(&value, 1)));
  held->Set(4);
  EXPECT_THAT(Render(registry, Format::kText), Not(HasSubstr("depth{")));
  EXPECT_EQ(family->At({"one"}).Value(), 0) << "a new child";
}

TEST(FamilyTest, TooManyLabelSetsShareOneChildAndWarnOnce) {
  std::vector<std::string> warnings;
  Registry registry(
      {.most_series_per_family = 3, .warn = [&](std::string_view sentence) { warnings.emplace_back(sentence); }});
  CounterFamily* family = *registry.AddCounter("rows", "Rows.", {"id"});
  for (int i = 0; i < 10; ++i) family->At({std::to_string(i)}).Inc();
  EXPECT_EQ(family->Children()->size(), 4);
  EXPECT_EQ(family->At({"__other__"}).Value(), 7);
  EXPECT_EQ(registry.dropped_label_sets(), 7);
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_THAT(warnings[0], HasSubstr("more than 3 label sets for rows"));
}

}  // namespace
}  // namespace wf::metrics
