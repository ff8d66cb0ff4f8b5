#include "metrics/registry.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "metrics/exposition.h"

namespace wf::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RegistryTest, SameDefinitionTwiceIsOneFamily) {
  Registry registry;
  CounterFamily* first = *registry.AddCounter("rows", "Rows.", {"t"});
  EXPECT_EQ(*registry.AddCounter("rows_total", "Rows.", {"t"}), first);
}

TEST(RegistryTest, ClashOfNamesIsReportedAndHarmless) {
  Registry registry;
  ASSERT_TRUE(registry.AddHistogram("load", "Load.").ok());
  const Status clash = registry.AddGauge("load", "Load.").status();
  EXPECT_EQ(clash.code(), Code::kAlreadyExists);
  EXPECT_THAT(clash.message(), HasSubstr("histogram \"load\""));
  EXPECT_EQ(registry.AddHistogram("load", "Other help.").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(registry.AddHistogram("load", "Load.", {}, std::vector<double>{1}).status().code(), Code::kAlreadyExists);
  EXPECT_TRUE(registry.AddGauge("other", "Other.").ok());
  EXPECT_THAT(Render(registry, Format::kText), HasSubstr("other 0\n"));
}

TEST(RegistryTest, RefusesNamesAndLabelsThatThePageCannotCarry) {
  Registry registry;
  EXPECT_EQ(registry.AddGauge("a-b", "").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(registry.AddGauge("a", "", {"1"}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(registry.AddGauge("a", "", {"__a"}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(registry.AddGauge("a", "", {"x", "x"}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(registry.AddHistogram("a", "", {"le"}).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(registry.AddGauge("a", "", {"le"}).ok());
}

TEST(RegistryTest, RefusesEndingsThatPromiseAnotherType) {
  Registry registry;
  for (const char* name : {"a_total", "a_count", "a_sum", "a_bucket", "a_created"}) {
    EXPECT_EQ(registry.AddGauge(name, "").status().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(registry.AddHistogram(name, "").status().code(), Code::kInvalidArgument) << name;
  }
  EXPECT_EQ(registry.AddCounter("a_count", "").status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(registry.AddCounter("a_total", "").ok());
}

TEST(RegistryTest, ExtraBoundsAreTakenBeforeTheFirstDefaultHistogramOnly) {
  Registry registry;
  const std::vector<double> limits = {42, 30};
  EXPECT_TRUE(registry.AddBucketBounds(limits).ok());
  HistogramFamily* family = *registry.AddHistogram("load", "Load.");
  EXPECT_EQ(family->bounds()->size(), DefaultBounds().size() + 1);
  EXPECT_EQ(registry.AddBucketBounds(limits).code(), Code::kFailedPrecondition);
}

TEST(RegistryTest, CollectorIsReadAtEachPageUntilRemoved) {
  Registry registry;
  double open = 3;
  const auto number = registry.AddCollector(
      {{Type::kGauge, "process_open_fds", "Open.", {}}, {Type::kCounter, "reads_total", "Reads.", {"disk"}}},
      [&](CollectorSink& sink) {
        sink.Add(1, 7, {"sd\"a"});
        sink.Add(0, open);
        sink.Add(0, 1, {"one label too many"});
        sink.Add(9, 1);
      });
  ASSERT_TRUE(number.ok());
  EXPECT_THAT(Render(registry, Format::kText),
              HasSubstr("process_open_fds 3\n# HELP reads_total Reads.\n"
                        "# TYPE reads_total counter\nreads_total{disk=\"sd\\\"a\"} 7\n"));
  open = 4;
  EXPECT_THAT(Render(registry, Format::kOpenMetrics), HasSubstr("process_open_fds 4\n# HELP reads Reads.\n"));
  EXPECT_EQ(registry.AddGauge("process_open_fds", "").status().code(), Code::kAlreadyExists);
  EXPECT_TRUE(registry.RemoveCollector(*number));
  EXPECT_FALSE(registry.RemoveCollector(*number));
  EXPECT_THAT(Render(registry, Format::kText), Not(HasSubstr("process_open_fds")));
  EXPECT_TRUE(registry.AddGauge("process_open_fds", "").ok());
}

TEST(RegistryTest, ARefusedCollectorLeavesNoNamesBehind) {
  Registry registry;
  ASSERT_TRUE(registry.AddGauge("taken", "").ok());
  EXPECT_FALSE(registry.AddCollector({{Type::kGauge, "free", "", {}}, {Type::kGauge, "taken", "", {}}}, {}).ok());
  EXPECT_TRUE(registry.AddGauge("free", "").ok());
}

}  // namespace
}  // namespace wf::metrics
