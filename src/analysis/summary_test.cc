#include "analysis/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/record_for_test.h"

namespace wf::analysis {
namespace {

using profile::Figure;
using profile::Quality;

TaskSummary SummaryOf(RecordForTest& builder, const std::string& name) {
  for (TaskSummary& task : Summarize(builder.record()).tasks) {
    if (task.name == name) return task;
  }
  ADD_FAILURE() << "no task " << name;
  return {};
}

TEST(SummaryTest, OverlappingAttemptsCountOnceAsWallTime) {
  RecordForTest builder(1000);
  builder.Call("load", 0, 400, 100);
  builder.Call("load", 100, 500, 100);
  const TaskSummary load = SummaryOf(builder, "load");
  EXPECT_EQ(load.wall_ns, 500 * kMs);
  EXPECT_DOUBLE_EQ(load.share, 0.5);
  EXPECT_EQ(load.attempt_walls.total_ns, 800 * kMs);
  EXPECT_DOUBLE_EQ(load.concurrency, 1.6);
  EXPECT_DOUBLE_EQ(*load.cores_used, 0.4);
  EXPECT_DOUBLE_EQ(*load.cores_per_attempt, 0.25);
}

TEST(SummaryTest, GapsBetweenAttemptsAreNotWallTimeOfTheTask) {
  RecordForTest builder(1000);
  builder.Call("load", 0, 100);
  builder.Call("load", 500, 600);
  EXPECT_EQ(SummaryOf(builder, "load").wall_ns, 200 * kMs);
}

TEST(SummaryTest, MedianIsOfAttempts) {
  RecordForTest builder(1000);
  builder.Call("load", 0, 10);
  builder.Call("load", 20, 40);
  builder.Call("load", 50, 90);
  builder.Call("load", 100, 200);
  const TaskSummary load = SummaryOf(builder, "load");
  EXPECT_EQ(load.attempt_walls.median_ns, 30 * kMs);
  EXPECT_EQ(load.attempt_walls.max_ns, 100 * kMs);
}

TEST(SummaryTest, AbsentFiguresStayAbsent) {
  RecordForTest builder(1000);
  builder.Call("load", 0, 100);
  const TaskSummary load = SummaryOf(builder, "load");
  EXPECT_FALSE(load.cpu_ns.present());
  EXPECT_FALSE(load.cores_used.has_value());
  EXPECT_FALSE(load.memory_peak_bytes.present());
}

TEST(SummaryTest, ASumThatMissesAttemptsIsAnEstimate) {
  RecordForTest builder(1000);
  builder.Call("load", 0, 100).usage.read_bytes = Figure::Measured(5);
  EXPECT_EQ(SummaryOf(builder, "load").read_bytes.figure.quality, Quality::kMeasured);
  builder.Call("load", 100, 200);
  EXPECT_EQ(SummaryOf(builder, "load").read_bytes.figure.quality, Quality::kEstimated);
  EXPECT_EQ(SummaryOf(builder, "load").read_bytes.figure.value, 5);
}

TEST(SummaryTest, AMaximumHasTheQualityOfTheAttemptThatReachedIt) {
  RecordForTest builder(1000);
  builder.Call("load", 0, 100).usage.memory_peak_bytes = {10, Quality::kShared};
  builder.Call("load", 100, 200).usage.memory_peak_bytes = Figure::Measured(20);
  EXPECT_EQ(SummaryOf(builder, "load").memory_peak_bytes.figure, Figure::Measured(20));
}

TEST(SummaryTest, ASharedAmountIsDividedAmongThoseThatOverlapped) {
  RecordForTest builder(1000);
  builder.Call("a", 0, 100).usage.read_bytes = {1000, Quality::kShared};
  builder.Call("b", 0, 100).usage.read_bytes = {1000, Quality::kShared};
  EXPECT_EQ(SummaryOf(builder, "a").read_bytes.figure, (Figure{500, Quality::kShared}));
}

TEST(SummaryTest, ATaskWhoseAttemptsOverlapWithAnotherIsNotAlone) {
  RecordForTest builder(1000);
  builder.Call("first", 0, 100);
  builder.Call("a", 100, 200);
  builder.Call("b", 150, 250);
  EXPECT_DOUBLE_EQ(SummaryOf(builder, "first").alone, 1.0);
  EXPECT_DOUBLE_EQ(SummaryOf(builder, "a").alone, 0.75);
}

TEST(SummaryTest, AttemptsInOtherProcessesDoNotShare) {
  RecordForTest builder(1000);
  const uint32_t worker = builder.AddProcess("worker 1");
  builder.Call("a", 0, 100).usage.read_bytes = {1000, Quality::kShared};
  profile::Attempt& other = builder.Call("b", 0, 100);
  other.process = worker;
  EXPECT_EQ(SummaryOf(builder, "a").read_bytes.figure.value, 1000);
}

TEST(SummaryTest, CoresOfTheMachineIncludeTheOtherTasks) {
  RecordForTest builder(1000);
  builder.Call("a", 0, 1000, 1000);
  builder.Call("b", 500, 1000, 500);
  EXPECT_NEAR(*SummaryOf(builder, "a").machine_cores_used, 1.5, 1e-9);
  EXPECT_NEAR(*SummaryOf(builder, "b").machine_cores_used, 2.0, 1e-9);
}

TEST(SummaryTest, TimeInWhichNothingRanIsCountedAndSplit) {
  RecordForTest builder(1000);
  builder.Call("a", 100, 300);
  const uint64_t late = builder.Node("b");
  builder.ReadyAt(late, 400);
  builder.Attempt(late, 600, 900);
  const RunTotals totals = Summarize(builder.record()).totals;
  EXPECT_EQ(totals.idle_ns, 500 * kMs);
  EXPECT_EQ(totals.idle_ready_ns, 200 * kMs);
  EXPECT_EQ(totals.before_first_ns, 100 * kMs);
  EXPECT_EQ(totals.after_last_ns, 100 * kMs);
}

TEST(SummaryTest, ARunThatNeverEndedLastsToItsLastSignOfLife) {
  RecordForTest builder(0);
  builder.record().run.end_ns = 0;
  builder.record().run.state = base::RunState::kLost;
  builder.Call("a", 0, 300);
  profile::Attempt& open = builder.Call("b", 100, 0);
  open.end_ns = 0;
  open.state = base::AttemptState::kLost;
  const RunSummary summary = Summarize(builder.record());
  EXPECT_FALSE(summary.totals.ended);
  EXPECT_EQ(summary.totals.wall_ns, 300 * kMs);
  EXPECT_EQ(SummaryOf(builder, "b").wall_ns, 200 * kMs);
  EXPECT_EQ(SummaryOf(builder, "b").attempt_walls.count, 0U);
  EXPECT_EQ(SummaryOf(builder, "b").failed_attempts, 1U);
}

TEST(SummaryTest, RowsThatPointNowhereAreLeftOut) {
  RecordForTest builder(1000);
  builder.Call("a", 0, 100);
  builder.Call("a", 0, 100).node = 77;
  builder.record().edges.push_back({99, 1, profile::EdgeKind::kData, {}});
  const RunSummary summary = Summarize(builder.record());
  EXPECT_EQ(summary.totals.attempts, 1U);
}

TEST(SummaryTest, ProcessesOfAnotherHostAreMovedToTheOwnersClock) {
  RecordForTest builder(1000);
  const uint32_t remote = builder.AddProcess("remote");
  profile::Process& owner = builder.record().processes[0];
  owner.anchor_monotonic_ns = 5'000 * kMs;
  owner.anchor_wall_ns = 100'000 * kMs;
  profile::Process& process = builder.record().processes[1];
  process.boot_id = "another boot";
  process.anchor_monotonic_ns = 70'000 * kMs;
  process.anchor_wall_ns = 100'000 * kMs;
  profile::Attempt& attempt = builder.Call("a", 0, 0);
  attempt.process = remote;
  attempt.start_ns = 70'100 * kMs;
  attempt.end_ns = 70'400 * kMs;
  builder.record().nodes[0].ready_ns = 0;
  EXPECT_EQ(SummaryOf(builder, "a").first_start_ns, 100 * kMs);
  EXPECT_EQ(SummaryOf(builder, "a").wall_ns, 300 * kMs);
}

TEST(SummaryTest, AnEmptyRunHasNoTasksAndNoDivisionByZero) {
  RecordForTest builder(0);
  const RunSummary summary = Summarize(builder.record());
  EXPECT_TRUE(summary.tasks.empty());
  EXPECT_EQ(summary.totals.wall_ns, 0);
}

}  // namespace
}  // namespace wf::analysis
