// Each verdict: one set of figures that triggers it, and one that differs in a single figure and does not.
#include "analysis/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/record_for_test.h"

namespace wf::analysis {
namespace {

using profile::Figure;
using profile::Quality;

constexpr Surroundings kEightCores{.usable_cpus_milli = 8000, .memory_limit_bytes = std::nullopt};

Amount Measured(int64_t value) { return {Figure::Measured(value), 1}; }

// A task that ran 10 s in one attempt.
TaskSummary TenSeconds(double cores) {
  TaskSummary task;
  task.name = "t";
  task.nodes = task.attempts = 1;
  task.wall_ns = task.path_ns = 10'000 * kMs;
  task.share = task.path_share = 0.7;
  task.attempt_walls = {1, task.wall_ns, task.wall_ns, task.wall_ns};
  task.concurrency = 1;
  task.cpu_ns = Measured(static_cast<int64_t>(cores * 10'000) * kMs);
  task.cores_used = task.cores_per_attempt = task.machine_cores_used = cores;
  return task;
}

std::string RuleOf(const TaskSummary& task, const Surroundings& surroundings = kEightCores) {
  return Judge(task, surroundings).rule;
}

TEST(BottleneckTest, OneBusyCoreWhileOthersIdle) {
  TaskSummary task = TenSeconds(1.0);
  EXPECT_EQ(RuleOf(task), rule::kCpuOneCore);
  EXPECT_DOUBLE_EQ(Judge(task, kEightCores).figures.at("idle_cores"), 7.0);
  task.machine_cores_used = 7.9;  // other tasks keep the rest busy
  EXPECT_EQ(RuleOf(task), rule::kCpuAllCores);
}

TEST(BottleneckTest, TimeWithoutACpuCountsAsBusySinceTheMachineWasTheOneThatHadNone) {
  TaskSummary task = TenSeconds(0.3);
  task.cpu_wait_ns = Measured(7'000 * kMs);
  EXPECT_EQ(RuleOf(task), rule::kCpuOneCore);
  EXPECT_DOUBLE_EQ(Judge(task, kEightCores).figures.at("cpu_wait_share"), 0.7);
  task.cpu_wait_ns = Measured(0);
  EXPECT_EQ(RuleOf(task), rule::kWaitUnknown);
}

TEST(BottleneckTest, OneBusyCoreIsAllThereIsOnAMachineWithOne) {
  const TaskSummary task = TenSeconds(0.97);
  EXPECT_EQ(RuleOf(task, {.usable_cpus_milli = 1000, .memory_limit_bytes = std::nullopt}), rule::kCpuAllCores);
  EXPECT_EQ(RuleOf(task, {.usable_cpus_milli = 2000, .memory_limit_bytes = std::nullopt}), rule::kCpuOneCore);
}

TEST(BottleneckTest, OverlappingAttemptsThatShareOneCore) {
  TaskSummary task = TenSeconds(1.0);
  task.cores_per_attempt = 0.25;
  task.concurrency = 4;
  EXPECT_EQ(RuleOf(task), rule::kCpuOneCoreShared);
  task.concurrency = 1;
  EXPECT_EQ(RuleOf(task), rule::kWaitUnknown);
}

TEST(BottleneckTest, SeveralBusyCoresWhileOthersIdle) {
  EXPECT_EQ(RuleOf(TenSeconds(3.0)), rule::kCpuSomeCores);
  EXPECT_EQ(RuleOf(TenSeconds(7.9)), rule::kCpuAllCores);
}

TEST(BottleneckTest, BusyWithoutAKnownNumberOfCores) { EXPECT_EQ(RuleOf(TenSeconds(1.0), {}), rule::kCpuBusy); }

TEST(BottleneckTest, AGpuThatIsBusyMostOfTheTime) {
  TaskSummary task = TenSeconds(1.0);
  task.gpu_busy_ns = Measured(9'000 * kMs);
  EXPECT_EQ(RuleOf(task), rule::kGpuBusy);
  task.gpu_busy_ns = Measured(2'000 * kMs);
  EXPECT_EQ(RuleOf(task), rule::kCpuOneCore);
}

TEST(BottleneckTest, WaitingWithoutNetworkFiguresCannotBeExplained) {
  TaskSummary task = TenSeconds(0.05);
  task.device_read_bytes = Measured(1000);
  const Finding finding = Judge(task, kEightCores);
  EXPECT_EQ(finding.rule, rule::kWaitUnknown);
  EXPECT_THAT(finding.absent, testing::ElementsAre("network_bytes"));
  EXPECT_NEAR(finding.figures.at("waiting_share"), 0.95, 1e-9);
}

TEST(BottleneckTest, WaitingForADiskThatMovesMuch) {
  TaskSummary task = TenSeconds(0.05);
  task.device_read_bytes = Measured(1000 * kMiB);
  EXPECT_EQ(RuleOf(task), rule::kIoDisk);
  task.device_read_bytes = Measured(10 * kMiB);
  EXPECT_EQ(RuleOf(task), rule::kWaitUnknown);
}

TEST(BottleneckTest, WaitingForANetworkThatMovesMuch) {
  TaskSummary task = TenSeconds(0.05);
  task.device_read_bytes = Measured(0);
  task.net_received_bytes = Measured(100 * kMiB);
  EXPECT_EQ(RuleOf(task), rule::kIoNetwork);
  task.net_received_bytes = Measured(1000);
  EXPECT_EQ(RuleOf(task), rule::kWaitQuiet);
}

TEST(BottleneckTest, ManyAttemptsThatEachWaitAreNotBusyCores) {
  TaskSummary task = TenSeconds(1.6);
  task.concurrency = 16;
  task.cores_per_attempt = 0.1;
  EXPECT_EQ(RuleOf(task), rule::kWaitUnknown);
  task.cores_per_attempt = 0.9;
  EXPECT_EQ(RuleOf(task), rule::kCpuSomeCores);
}

TEST(BottleneckTest, LowCpuThatIsOnlyALowerBoundProvesNoWaiting) {
  TaskSummary task = TenSeconds(0.1);
  task.alone = 0.5;
  EXPECT_EQ(RuleOf(task), rule::kWaitUnknown);
  task.cpu_ns.figure.quality = Quality::kEstimated;
  EXPECT_EQ(RuleOf(task), rule::kUnknownCpuLowerBound);
  task.alone = 1.0;
  EXPECT_EQ(RuleOf(task), rule::kWaitUnknown);
}

TEST(BottleneckTest, WithoutCpuFiguresItCannotBeTold) {
  TaskSummary task = TenSeconds(1.0);
  task.cpu_ns = {};
  task.cores_used.reset();
  EXPECT_EQ(RuleOf(task), rule::kUnknownNoCpu);
}

TEST(BottleneckTest, AFewMillisecondsAreTooShortToJudge) {
  TaskSummary task = TenSeconds(1.0);
  task.wall_ns = 9 * kMs;
  EXPECT_EQ(RuleOf(task), rule::kUnknownTooShort);
  task.wall_ns = 11 * kMs;
  EXPECT_EQ(RuleOf(task), rule::kCpuOneCore);
}

TEST(BottleneckTest, ATaskThatNeverRanIsNotJudged) {
  TaskSummary task = TenSeconds(1.0);
  task.attempts = 0;
  EXPECT_EQ(RuleOf(task), rule::kUnknownNothingRan);
}

std::vector<std::string> OtherRules(const RunSummary& summary, const Surroundings& surroundings = kEightCores) {
  std::vector<std::string> rules;
  for (const Finding& finding : FindBottleneck(summary, surroundings).others) rules.push_back(finding.rule);
  return rules;
}

TEST(BottleneckTest, MemoryNearTheLimitIsSaidOfAnyTask) {
  RunSummary summary;
  summary.tasks = {TenSeconds(1.0)};
  summary.tasks[0].memory_peak_bytes = Measured(950 * kMiB);
  Surroundings surroundings = kEightCores;
  surroundings.memory_limit_bytes = 1000 * kMiB;
  EXPECT_THAT(OtherRules(summary, surroundings), testing::ElementsAre(rule::kMemoryNearLimit));
  summary.tasks[0].memory_peak_bytes = Measured(500 * kMiB);
  EXPECT_THAT(OtherRules(summary, surroundings), testing::IsEmpty());
}

TEST(BottleneckTest, GapsInWhichNothingRan) {
  RunSummary summary;
  summary.totals.wall_ns = 1000 * kMs;
  summary.totals.attempts = 1;
  summary.totals.idle_ns = 400 * kMs;
  EXPECT_THAT(OtherRules(summary), testing::ElementsAre(rule::kSchedulingGaps));
  summary.totals.idle_ns = 50 * kMs;
  EXPECT_THAT(OtherRules(summary), testing::IsEmpty());
}

TEST(BottleneckTest, ManyTinyTasksThatAreMostlyOverhead) {
  RunSummary summary;
  summary.totals.wall_ns = 1000 * kMs;
  summary.tasks = {TenSeconds(1.0)};
  summary.tasks[0].attempt_walls = {5000, 100 * kMs, kMs / 50, kMs};
  EXPECT_THAT(OtherRules(summary), testing::ElementsAre(rule::kTinyTasks));
  summary.tasks[0].attempt_walls.median_ns = 20 * kMs;
  EXPECT_THAT(OtherRules(summary), testing::IsEmpty());
}

TEST(BottleneckTest, TheTaskToFixFirstIsOnThePathNotTheLongest) {
  RecordForTest builder(1000);
  const uint64_t first = builder.Node("first");
  const uint64_t second = builder.Node("second", {first});
  builder.Attempt(first, 0, 450, 450);
  builder.Attempt(second, 450, 1000, 550);
  builder.Call("beside", 0, 900, 900);  // longer, but nothing waits for it
  const Verdict verdict = FindBottleneck(Summarize(builder.record()), kEightCores);
  EXPECT_EQ(verdict.bottleneck->task, "second");
}

TEST(BottleneckTest, TheVerdictFollowsTheFiguresNotTheNames) {
  for (const bool swapped : {false, true}) {
    RecordForTest builder(1000);
    const uint64_t a = builder.Node(swapped ? "preprocess_images" : "fetch_images");
    const uint64_t b = builder.Node(swapped ? "fetch_images" : "preprocess_images", {a});
    builder.Attempt(a, 0, 800, 800);
    builder.Attempt(b, 800, 1000, 10);
    const Verdict verdict = FindBottleneck(Summarize(builder.record()), kEightCores);
    EXPECT_EQ(verdict.bottleneck->task, swapped ? "preprocess_images" : "fetch_images");
    EXPECT_EQ(verdict.bottleneck->rule, rule::kCpuOneCore);
  }
}

TEST(BottleneckTest, NothingRanNoBottleneck) {
  RecordForTest builder(1000);
  builder.Node("a");
  EXPECT_FALSE(FindBottleneck(Summarize(builder.record()), kEightCores).bottleneck.has_value());
}

}  // namespace
}  // namespace wf::analysis
