// Building a run, its order, its end.
#include "dag/machine.h"

#include "dag/machine_testing.h"

namespace wf::dag {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Machine, GivesNodesIdsFromOneInOrderOfCreation) {
  TestRun run;
  EXPECT_EQ(run.Add(), 1u);
  EXPECT_EQ(run.Add(), 2u);
}

TEST(Machine, NothingIsReadyBeforeStart) {
  TestRun run;
  const NodeId a = run.Add();
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_EQ(run.State(a), NodeState::kWaiting);
}

TEST(Machine, StartIssuesFreeNodesInOrderOfCreation) {
  TestRun run;
  const NodeId a = run.Add();
  run.Add({a});
  run.Add();
  run.Start();
  EXPECT_THAT(run.TakeReady(), ElementsAre(1, 3));
}

TEST(Machine, SecondStartDoesNothing) {
  TestRun run;
  run.Add();
  run.Start();
  run.TakeReady();
  EXPECT_TRUE(run.machine.Start(0, run.out).ok());
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(Machine, NodeStartsOnlyWhenAllItsDependenciesSucceeded) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add();
  const NodeId c = run.Add({a}, {b});
  run.Start();
  run.TakeReady();
  run.Do(a);
  EXPECT_THAT(run.TakeReady(), IsEmpty());
  run.Do(b);
  EXPECT_THAT(run.TakeReady(), ElementsAre(c));
}

TEST(Machine, DependencyNamedTwiceIsWaitedForOnce) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a, a}, {a});
  run.Start();
  run.TakeReady();
  run.Do(a);
  EXPECT_THAT(run.TakeReady(), ElementsAre(b));
}

TEST(Machine, DependantsThatOneNodeReleasesAreIssuedInOrderOfCreation) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add();
  const NodeId c = run.Add();
  ASSERT_TRUE(run.machine.AddAfter(c, a, run.out).ok());
  ASSERT_TRUE(run.machine.AddAfter(b, a, run.out).ok());
  run.Start();
  EXPECT_THAT(run.TakeReady(), ElementsAre(a));
  run.Do(a);
  EXPECT_THAT(run.TakeReady(), ElementsAre(b, c));
}

TEST(Machine, NodeAddedWhileRunningIsIssuedAtOnce) {
  TestRun run;
  const NodeId a = run.Add();
  run.Start();
  run.TakeReady();
  ASSERT_TRUE(run.Begin(a));
  const NodeId child = run.AddSpec({.parent = a});
  EXPECT_THAT(run.TakeReady(), ElementsAre(child));
  EXPECT_TRUE(run.machine.IsDescendant(child, a));
  EXPECT_FALSE(run.machine.IsDescendant(a, child));
}

TEST(Machine, NodeAddedAfterItsDependencySucceededIsIssuedAtOnce) {
  TestRun run;
  ASSERT_TRUE(run.machine.Start(0, run.out).ok());
  const NodeId a = run.Add();
  run.TakeReady();
  run.Do(a);
  const NodeId b = run.Add({a});
  EXPECT_THAT(run.TakeReady(), ElementsAre(b));
}

TEST(Machine, RunSucceedsWhenTheLastNodeDoes) {
  TestRun run;
  const NodeId a = run.Add();
  run.Start();
  EXPECT_THAT(run.Take(CommandKind::kRunFinal), IsEmpty());
  run.Do(a);
  const std::vector<Command> end = run.Take(CommandKind::kRunFinal);
  ASSERT_THAT(end, SizeIs(1));
  EXPECT_EQ(end[0].run_state, RunState::kSuccess);
  EXPECT_EQ(run.machine.run_state(), RunState::kSuccess);
}

TEST(Machine, EmptyRunSucceedsWhenItsBodyEnds) {
  TestRun run;
  run.Start();
  EXPECT_EQ(run.machine.run_state(), RunState::kSuccess);
}

TEST(Machine, RunStaysOpenWhileItsBodyRuns) {
  TestRun run;
  const NodeId a = run.Add();
  ASSERT_TRUE(run.machine.Start(0, run.out).ok());
  run.Do(a);
  EXPECT_EQ(run.machine.run_state(), RunState::kRunning);
  run.machine.BodyEnded(BodyOutcome::kSuccess, 0, run.out);
  EXPECT_EQ(run.machine.run_state(), RunState::kSuccess);
}

TEST(Machine, RunStaysOpenWhileSomeoneHoldsIt) {
  TestRun run;
  run.machine.HoldOpen();
  run.Start();
  run.machine.BodyEnded(BodyOutcome::kSuccess, 0, run.out);  // a repeated end releases no hold of others
  EXPECT_EQ(run.machine.run_state(), RunState::kRunning);
  run.machine.ReleaseHold(0, run.out);
  EXPECT_EQ(run.machine.run_state(), RunState::kSuccess);
}

TEST(Machine, FailedBodyMakesTheRunFailedEvenIfItIsCancelledAfterwards) {
  TestRun run;
  run.Add();
  run.machine.BodyEnded(BodyOutcome::kError, 0, run.out);
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.machine.run_state(), RunState::kFailed);
  EXPECT_EQ(run.Count(NodeState::kCancelled), 1u);
}

TEST(Machine, FinishedRunTakesNoMoreNodes) {
  TestRun run;
  run.Start();
  const Result<NodeId> late = run.machine.AddNode({}, 0, run.out);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(run.machine.node_count(), 0u);
}

TEST(Machine, RefusesNodesThatMakeNoSenseAndAddsNothing) {
  TestRun run;
  const std::vector<NodeId> unknown = {7};
  const LimitId gpu = *run.machine.AddLimit("gpu", 1);
  const std::vector<LimitId> twice = {gpu, gpu};
  const std::vector<LimitId> undeclared = {gpu + 1};
  const std::vector<NodeSpec> specs = {
      {.data_deps = unknown},       {.after_deps = unknown},     {.parent = 7},     {.policy = {.retry_delay_ns = -1}},
      {.policy = {.backoff = 0.5}}, {.policy = {.jitter = 1.5}}, {.limits = twice}, {.limits = undeclared}};
  for (size_t i = 0; i < specs.size(); ++i) {
    const Result<NodeId> id = run.machine.AddNode(specs[i], 0, run.out);
    ASSERT_FALSE(id.ok()) << i;
    EXPECT_EQ(id.status().code(), Code::kInvalidArgument) << i;
  }
  EXPECT_EQ(run.machine.node_count(), 0u);
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(Machine, StartRefusesACycleAndPrintsItsPath) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  run.Add({b});
  ASSERT_TRUE(run.machine.AddAfter(a, b, run.out).ok());
  EXPECT_THAT(run.machine.FindCycle(), ElementsAre(a, b, a));
  const auto name = [](NodeId id) { return std::string(1, static_cast<char>('a' + id - 1)); };
  const Status status = run.machine.Start(0, run.out, name);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("a -> b -> a"));
  EXPECT_FALSE(run.machine.started());
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(Machine, StartRefusesANodeThatWaitsForItself) {
  TestRun run;
  const NodeId a = run.Add();
  ASSERT_TRUE(run.machine.AddAfter(a, a, run.out).ok());
  EXPECT_THAT(run.machine.Start(0, run.out).message(), HasSubstr("node 1 -> node 1"));
}

TEST(Machine, OrderCannotBeChangedOnceTheRunHasStarted) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add();
  run.Start();
  EXPECT_EQ(run.machine.AddAfter(b, a, run.out).code(), Code::kFailedPrecondition);
}

TEST(Machine, CachedNodeReleasesItsDependantsWithoutRunning) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  ASSERT_TRUE(run.machine.MarkCached(a, 0, run.out));
  run.Start();
  EXPECT_THAT(run.TakeReady(), ElementsAre(b));
  EXPECT_EQ(run.State(a), NodeState::kCached);
  run.Do(b);
  EXPECT_EQ(run.machine.run_state(), RunState::kSuccess);
}

TEST(Machine, NodeMarkedCachedBeforeItsDependenciesEndIsNotIssuedLater) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  run.Start();
  run.TakeReady();
  ASSERT_TRUE(run.machine.MarkCached(b, 0, run.out));
  run.Do(a);
  EXPECT_THAT(run.TakeReady(), IsEmpty());
}

TEST(Machine, RunningNodeCannotBeMarkedCached) {
  TestRun run;
  const NodeId a = run.Add();
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  EXPECT_FALSE(run.machine.MarkCached(a, 0, run.out));
}

TEST(Machine, LateAndUnknownEventsChangeNothing) {
  TestRun run;
  const NodeId a = run.Add();
  run.Add();
  run.Start();
  run.Do(a);
  run.out.clear();
  EXPECT_FALSE(run.machine.AttemptStarted(a, 1, 0, run.out));
  EXPECT_FALSE(run.machine.AttemptFinished(a, 1, Outcome::kError, 0, run.out).accepted);
  EXPECT_FALSE(run.machine.AttemptFinished(2, 5, Outcome::kError, 0, run.out).accepted);
  EXPECT_FALSE(run.machine.AttemptFinished(99, 1, Outcome::kSuccess, 0, run.out).accepted);
  EXPECT_FALSE(run.machine.AttemptFinished(kNoNode, 0, Outcome::kSuccess, 0, run.out).accepted);
  EXPECT_FALSE(run.machine.WorkerLost(a, 1, true, 0, run.out).accepted);
  EXPECT_FALSE(run.machine.TimerFired(a, 1, TimerKind::kRetry, 0, run.out));
  EXPECT_FALSE(run.machine.CancelNode(99, 0, run.out));
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_EQ(run.State(a), NodeState::kSuccess);
}

TEST(Machine, StalledRunIsReportedWithWhatWaitsForWhat) {
  TestRun run({.check_cycles = false});
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  ASSERT_TRUE(run.machine.AddAfter(a, b, run.out).ok());
  run.Start();
  const Status status = run.machine.CheckProgress();
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("node 1: waits for node 2"));
  EXPECT_THAT(status.message(), HasSubstr("node 2: waits for node 1"));
}

TEST(Machine, HealthyRunHasNothingToReport) {
  TestRun run;
  const NodeId a = run.Add();
  EXPECT_TRUE(run.machine.CheckProgress().ok());
  run.Start();
  EXPECT_TRUE(run.machine.CheckProgress().ok());
  run.Do(a);
  EXPECT_TRUE(run.machine.CheckProgress().ok());
}

TEST(Machine, ExplainSaysWhatEveryNodeWaitsForAndIsBounded) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 1);
  const NodeId a = run.AddWithLimits({gpu});
  run.AddWithLimits({gpu});
  run.Add({a, a});
  for (int i = 0; i < 100; ++i) run.Add({a});
  ASSERT_TRUE(run.machine.Start(0, run.out).ok());
  ASSERT_TRUE(run.Begin(a));
  const std::string text = run.machine.Explain({}, 3);
  EXPECT_EQ(text,
            "node 1: attempt 1 runs\n"
            "node 2: waits for limit 'gpu' (1 of 1 held by node 1)\n"
            "node 3: waits for node 1\n"
            "and 100 more unfinished\n"
            "the body of the workflow has not ended\n");
}

TEST(Machine, HundredThousandNodesOfAChainReachTheEnd) {
  TestRun run;
  constexpr NodeId kNodes = 100'000;
  run.machine.Reserve(kNodes, kNodes);
  NodeId last = run.Add();
  for (NodeId i = 1; i < kNodes; ++i) last = run.AddSpec({.data_deps = {&last, 1}});
  run.Start();
  for (size_t i = 0; i < run.out.size(); ++i) {
    if (run.out[i].kind == CommandKind::kReady) run.Do(run.out[i].node);
  }
  EXPECT_EQ(run.Count(NodeState::kSuccess), kNodes);
  EXPECT_EQ(run.machine.run_state(), RunState::kSuccess);
}

}  // namespace
}  // namespace wf::dag
