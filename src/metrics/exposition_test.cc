#include "metrics/exposition.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace wf::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

void Fill(Registry* registry) {
  (*registry->AddCounter("rows", "Rows \"read\",\nC:\\all.", {"table"}))->At({"a\"b\\c\nd"}).Add(2.5);
  (*registry->AddGauge("depth", "Depth."))->At({}).Set(-1);
  Histogram& load = (*registry->AddHistogram("load", "Load.", {"cpu"}, std::vector<double>{0.5, 1}))->At({"0"});
  load.Observe(1);
  load.Observe(7);
}

TEST(ExpositionTest, TextPageFollows004) {
  Registry registry;
  Fill(&registry);
  EXPECT_EQ(Render(registry, Format::kText),
            "# HELP rows_total Rows \"read\",\\nC:\\\\all.\n"
            "# TYPE rows_total counter\n"
            "rows_total{table=\"a\\\"b\\\\c\\nd\"} 2.5\n"
            "# HELP depth Depth.\n"
            "# TYPE depth gauge\n"
            "depth -1\n"
            "# HELP load Load.\n"
            "# TYPE load histogram\n"
            "load_bucket{cpu=\"0\",le=\"0.5\"} 0\n"
            "load_bucket{cpu=\"0\",le=\"1.0\"} 1\n"
            "load_bucket{cpu=\"0\",le=\"+Inf\"} 2\n"
            "load_sum{cpu=\"0\"} 8\n"
            "load_count{cpu=\"0\"} 2\n");
}

TEST(ExpositionTest, OpenMetricsPageNamesCountersWithoutTotalEscapesHelpAndEndsWithEof) {
  Registry registry;
  Fill(&registry);
  const std::string page = Render(registry, Format::kOpenMetrics);
  EXPECT_THAT(page, HasSubstr("# HELP rows Rows \\\"read\\\",\\nC:\\\\all.\n# TYPE rows counter\nrows_total{"));
  EXPECT_TRUE(page.ends_with("load_count{cpu=\"0\"} 2\n# EOF\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n\n")));
}

TEST(ExpositionTest, EmptyRegistryIsAnEmptyPage) {
  Registry registry;
  EXPECT_EQ(Render(registry, Format::kText), "");
  EXPECT_EQ(Render(registry, Format::kOpenMetrics), "# EOF\n");
}

TEST(ExpositionTest, HistogramWithoutLabelsHasOnlyTheBound) {
  Registry registry;
  ASSERT_TRUE(registry.AddHistogram("load", "", {}, std::vector<double>{1}).ok());
  EXPECT_EQ(Render(registry, Format::kText),
            "# TYPE load histogram\nload_bucket{le=\"1.0\"} 0\nload_bucket{le=\"+Inf\"} 0\nload_sum 0\nload_count 0\n");
}

TEST(ExpositionTest, ContentTypesCarryTheVersion) {
  EXPECT_EQ(ContentType(Format::kText), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(ContentType(Format::kOpenMetrics), "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

TEST(ExpositionTest, SnapshotHoldsWhatThePageHolds) {
  Registry registry;
  Fill(&registry);
  (*registry.AddGauge("gone", ""))->At({}).Clear();
  const std::vector<FamilySnapshot> all = Snapshot(registry);
  ASSERT_EQ(all.size(), 4);
  EXPECT_EQ(all[0].spec.name, "rows");
  ASSERT_EQ(all[0].samples.size(), 1);
  EXPECT_EQ(all[0].samples[0].suffix, "_total");
  EXPECT_THAT(all[0].samples[0].labels, ElementsAre(Pair("table", "a\"b\\c\nd")));
  EXPECT_EQ(all[0].samples[0].value, 2.5);
  ASSERT_EQ(all[2].samples.size(), 5);
  EXPECT_THAT(all[2].samples[1].labels, ElementsAre(Pair("cpu", "0"), Pair("le", "1.0")));
  EXPECT_EQ(all[2].samples[1].value, 1);
  EXPECT_TRUE(all[3].samples.empty());
}

}  // namespace
}  // namespace wf::metrics
