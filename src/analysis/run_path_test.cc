#include "analysis/run_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/record_for_test.h"

namespace wf::analysis {
namespace {

std::vector<std::string> NamesOnPath(RecordForTest& builder) {
  const RunIndex index(builder.record());
  std::vector<std::string> names;
  for (const PathStep& step : FindRunPath(index)) names.push_back(builder.record().tasks[step.task].name);
  return names;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RunPathTest, FollowsTheDependencyThatEndedLast) {
  RecordForTest builder(1000);
  const uint64_t fast = builder.Node("fast");
  const uint64_t slow = builder.Node("slow");
  const uint64_t join = builder.Node("join", {fast, slow});
  builder.Attempt(fast, 0, 100);
  builder.Attempt(slow, 0, 700);
  builder.Attempt(join, 700, 1000);
  EXPECT_THAT(NamesOnPath(builder), ElementsAre("slow", "join"));
}

TEST(RunPathTest, ANodeThatWaitedForAWorkerFollowsTheAttemptThatFreedIt) {
  RecordForTest builder(300);
  const uint64_t a = builder.Node("a");
  const uint64_t b = builder.Node("b");
  builder.ReadyAt(b, 0);
  builder.Attempt(a, 0, 200).worker = 0;
  builder.Attempt(b, 200, 300).worker = 0;
  EXPECT_THAT(NamesOnPath(builder), ElementsAre("a", "b"));
}

TEST(RunPathTest, ANodeThatStartedAtOnceDoesNotFollowAStranger) {
  RecordForTest builder(300);
  const uint64_t a = builder.Node("a");
  const uint64_t b = builder.Node("b");
  builder.ReadyAt(b, 200);
  builder.Attempt(a, 0, 200).worker = 0;
  builder.Attempt(b, 200, 300).worker = 0;
  EXPECT_THAT(NamesOnPath(builder), ElementsAre("b"));
}

TEST(RunPathTest, ARetryFollowsTheAttemptBeforeIt) {
  RecordForTest builder(300);
  const uint64_t node = builder.Node("flaky");
  builder.Attempt(node, 0, 100).state = base::AttemptState::kError;
  builder.Attempt(node, 150, 300);
  EXPECT_THAT(NamesOnPath(builder), ElementsAre("flaky", "flaky"));
}

TEST(RunPathTest, StepsDoNotOverlap) {
  RecordForTest builder(300);
  const uint64_t first = builder.Node("first");
  const uint64_t second = builder.Node("second", {first});
  builder.Attempt(first, 0, 200);
  builder.Attempt(second, 150, 300);  // a damaged record: began before what it needs had ended
  const RunIndex index(builder.record());
  const std::vector<PathStep> path = FindRunPath(index);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_LE(path[0].end_ns, path[1].start_ns);
}

TEST(RunPathTest, ACycleInADamagedRecordEnds) {
  RecordForTest builder(300);
  const uint64_t a = builder.Node("a");
  const uint64_t b = builder.Node("b", {a});
  builder.record().edges.push_back({b, a, profile::EdgeKind::kData, {}});
  builder.Attempt(a, 0, 100);
  builder.Attempt(b, 100, 200);
  EXPECT_THAT(NamesOnPath(builder), ElementsAre("a", "b"));
}

TEST(RunPathTest, NothingRanNoPath) {
  RecordForTest builder(300);
  builder.Node("a");
  EXPECT_THAT(NamesOnPath(builder), IsEmpty());
}

TEST(RunPathTest, AHundredThousandNodesOnOneWorkerAreAllOnIt) {
  RecordForTest builder(100'000);
  profile::RunRecord& record = builder.record();
  for (int i = 0; i < 100'000; ++i) {
    profile::Node node;
    node.id = static_cast<uint64_t>(i) + 1;
    node.task = 1;
    node.ready_ns = RecordForTest::kStart;
    record.nodes.push_back(node);
    profile::Attempt attempt;
    attempt.id = attempt.node = node.id;
    attempt.worker = 0;
    attempt.process = 1;
    attempt.start_ns = RecordForTest::kStart + i * kMs;
    attempt.end_ns = attempt.start_ns + kMs;
    record.attempts.push_back(attempt);
  }
  record.tasks.push_back({.id = 1, .name = "step", .qualname = "", .file = "", .line = 1, .kind = "function"});
  EXPECT_GE(FindRunPath(RunIndex(record)).size(), 99'998U);
}

}  // namespace
}  // namespace wf::analysis
