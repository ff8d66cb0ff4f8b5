// Failures, retries, time-outs, cancel, lost workers.
#include <algorithm>

#include "dag/machine_testing.h"

namespace wf::dag {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

TEST(MachineFailure, DependantsAreSkippedAndNameTheFirstFailedNode) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  const NodeId c = run.Add({b});
  run.Start();
  run.TakeReady();
  run.Do(a, Outcome::kError);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
  EXPECT_EQ(run.State(b), NodeState::kSkipped);
  EXPECT_EQ(run.State(c), NodeState::kSkipped);
  EXPECT_EQ(run.machine.CauseOf(a), a);
  EXPECT_EQ(run.machine.CauseOf(b), a);
  EXPECT_EQ(run.machine.CauseOf(c), a);
  EXPECT_EQ(run.machine.run_state(), RunState::kFailed);
}

TEST(MachineFailure, IndependentBranchRunsOn) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add();
  const NodeId c = run.Add({b});
  run.Start();
  run.TakeReady();
  run.Do(a, Outcome::kError);
  EXPECT_EQ(run.machine.run_state(), RunState::kRunning);
  run.Do(b);
  EXPECT_THAT(run.TakeReady(), ElementsAre(c));
  run.Do(c);
  EXPECT_EQ(run.State(c), NodeState::kSuccess);
  EXPECT_EQ(run.machine.run_state(), RunState::kFailed);
}

TEST(MachineFailure, NodeSkippedForOneDependencyKeepsThatCauseWhenAnotherFails) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add();
  const NodeId c = run.Add({a, b});
  run.Start();
  run.Do(b, Outcome::kError);
  run.Do(a, Outcome::kError);
  EXPECT_EQ(run.machine.CauseOf(c), b);
}

TEST(MachineFailure, NodeAddedBehindAFailureIsSkippedAtOnceWithTheOriginalCause) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  ASSERT_TRUE(run.machine.Start(0, run.out).ok());
  run.Do(a, Outcome::kError);
  const NodeId late = run.Add({b});
  EXPECT_EQ(run.State(late), NodeState::kSkipped);
  EXPECT_EQ(run.machine.CauseOf(late), a);
}

TEST(MachineFailure, ExecutorMayReportAnAttemptThatItCouldNotStart) {
  TestRun run;
  const NodeId a = run.Add();
  run.Start();
  EXPECT_TRUE(run.End(a, Outcome::kError).accepted);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
}

TEST(MachineRetry, FailedAttemptIsTriedAgainAndTheNodeStaysRunning) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 1});
  run.Start();
  run.TakeReady();
  EXPECT_TRUE(run.Do(a, Outcome::kError).retried);
  EXPECT_EQ(run.State(a), NodeState::kRunning);
  EXPECT_THAT(run.TakeReady(), ElementsAre(a));
  EXPECT_EQ(run.machine.AttemptOf(a), 2u);
  EXPECT_FALSE(run.Do(a, Outcome::kError).retried);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
}

TEST(MachineRetry, ErrorThatTheFilterRejectsIsNotTriedAgain) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 5});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.machine.AttemptFinished(a, 1, Outcome::kError, 0, run.out, false);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
}

TEST(MachineRetry, DelayGrowsByTheBackoffUpToTheLongest) {
  TestRun run;
  const NodeId a =
      run.AddWithPolicy({.max_retries = 4, .retry_delay_ns = kSecond, .backoff = 2, .max_delay_ns = 3 * kSecond});
  run.Start();
  std::vector<int64_t> delays;
  for (int i = 0; i < 4; ++i) {
    run.now += 10 * kSecond;
    run.Do(a, Outcome::kError);
    const Command timer = run.TakeTimer();
    EXPECT_EQ(timer.timer, TimerKind::kRetry);
    delays.push_back(timer.at_ns - run.now);
    EXPECT_TRUE(run.Fire(timer));
  }
  EXPECT_THAT(delays, ElementsAre(kSecond, 2 * kSecond, 3 * kSecond, 3 * kSecond));
}

TEST(MachineRetry, JitterShortensTheDelayByUpToItsShareAndSpreadsNodes) {
  TestRun run;
  const RetryPolicy policy{.max_retries = 1, .retry_delay_ns = kSecond, .jitter = 0.5};
  std::vector<int64_t> delays;
  for (int i = 0; i < 20; ++i) run.AddWithPolicy(policy);
  run.Start();
  for (NodeId id = 1; id <= 20; ++id) {
    run.Do(id, Outcome::kError);
    delays.push_back(run.TakeTimer().at_ns);
  }
  std::sort(delays.begin(), delays.end());
  EXPECT_GE(delays.front(), kSecond / 2);
  EXPECT_LE(delays.back(), kSecond);
  EXPECT_GT(delays.back() - delays.front(), kSecond / 10);
}

TEST(MachineRetry, HugeBackoffSaturatesInsteadOfOverflowing) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 3, .retry_delay_ns = INT64_MAX, .backoff = 1e300});
  run.now = INT64_MAX - 5;
  run.Start();
  for (int i = 0; i < 3; ++i) {
    run.Do(a, Outcome::kError);
    const Command timer = run.TakeTimer();
    EXPECT_EQ(timer.at_ns, INT64_MAX);
    run.Fire(timer);
  }
}

TEST(MachineRetry, FinishOfAnEarlierAttemptIsIgnored) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 1});
  run.Start();
  run.Do(a, Outcome::kError);
  ASSERT_TRUE(run.Begin(a));
  EXPECT_FALSE(run.machine.AttemptFinished(a, 1, Outcome::kSuccess, 0, run.out).accepted);
  EXPECT_EQ(run.State(a), NodeState::kRunning);
}

TEST(MachineTimeout, AttemptOverItsLimitIsToldToStopAndCountsAsTimeoutWhateverItReturns) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.timeout_ns = kSecond});
  run.now = 7;
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  const Command timer = run.TakeTimer();
  EXPECT_EQ(timer.timer, TimerKind::kTimeout);
  EXPECT_EQ(timer.at_ns, kSecond + 7);
  EXPECT_TRUE(run.Fire(timer));
  const std::vector<Command> stops = run.Take(CommandKind::kCancelAttempt);
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops[0].reason, CancelReason::kTimeout);
  EXPECT_EQ(run.State(a), NodeState::kRunning);
  EXPECT_EQ(run.End(a, Outcome::kSuccess).state, AttemptState::kTimeout);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
}

TEST(MachineTimeout, TimedOutAttemptIsTriedAgain) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 1, .timeout_ns = kSecond});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.Fire(run.TakeTimer());
  EXPECT_TRUE(run.End(a, Outcome::kTimeout).retried);
  EXPECT_EQ(run.machine.AttemptOf(a), 2u);
}

TEST(MachineTimeout, TimerOfAFinishedAttemptDoesNothingToTheNext) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 1, .timeout_ns = kSecond});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  const Command timer = run.TakeTimer();
  run.End(a, Outcome::kError);
  ASSERT_TRUE(run.Begin(a));
  EXPECT_FALSE(run.Fire(timer));
  EXPECT_THAT(run.Take(CommandKind::kCancelAttempt), IsEmpty());
}

TEST(MachineCancel, WaitingAndReadyNodesAreCancelledAtOnceAndNothingStartsAfterwards) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  run.Start();
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.State(a), NodeState::kCancelled);
  EXPECT_EQ(run.State(b), NodeState::kCancelled);
  EXPECT_FALSE(run.machine.AttemptStarted(a, 1, 0, run.out));
  EXPECT_EQ(run.machine.run_state(), RunState::kCancelled);
}

TEST(MachineCancel, RunningAttemptIsToldToStopAndIsFinalWhenItReports) {
  TestRun run;
  const NodeId a = run.Add();
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.machine.Cancel(0, run.out);
  run.machine.Cancel(0, run.out);  // once is enough
  const std::vector<Command> stops = run.Take(CommandKind::kCancelAttempt);
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops[0].reason, CancelReason::kCancelled);
  EXPECT_EQ(run.State(a), NodeState::kRunning);
  EXPECT_EQ(run.End(a, Outcome::kError).state, AttemptState::kCancelled);
  EXPECT_EQ(run.State(a), NodeState::kCancelled);
  EXPECT_EQ(run.machine.run_state(), RunState::kCancelled);
}

TEST(MachineCancel, AttemptThatSucceedsInSpiteOfACancelIsASuccess) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.End(a).state, AttemptState::kSuccess);
  EXPECT_EQ(run.State(a), NodeState::kSuccess);
  EXPECT_EQ(run.State(b), NodeState::kCancelled);
  EXPECT_EQ(run.machine.run_state(), RunState::kCancelled);
}

TEST(MachineCancel, CancelledRunRetriesNothing) {
  TestRun run;
  const NodeId delayed = run.AddWithPolicy({.max_retries = 3, .retry_delay_ns = kSecond});
  const NodeId expired = run.AddWithPolicy({.max_retries = 3, .timeout_ns = kSecond});
  run.Start();
  run.Do(delayed, Outcome::kError);
  const Command retry = run.TakeTimer();
  ASSERT_TRUE(run.Begin(expired));
  run.Fire(run.TakeTimer());
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.State(delayed), NodeState::kCancelled);
  EXPECT_FALSE(run.Fire(retry));
  EXPECT_EQ(run.End(expired, Outcome::kTimeout).state, AttemptState::kTimeout);
  EXPECT_EQ(run.State(expired), NodeState::kFailed);
}

TEST(MachineCancel, NodeAddedToACancelledRunIsCancelled) {
  TestRun run;
  ASSERT_TRUE(run.machine.Start(0, run.out).ok());
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.State(run.Add()), NodeState::kCancelled);
  run.machine.BodyEnded(BodyOutcome::kSuccess, 0, run.out);
  EXPECT_EQ(run.machine.run_state(), RunState::kCancelled);
}

TEST(MachineCancel, CancelBeforeStartEndsTheRunWhenItsBodyEnds) {
  TestRun run;
  run.Add();
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.machine.run_state(), RunState::kRunning);
  run.machine.BodyEnded(BodyOutcome::kSuccess, 0, run.out);
  EXPECT_EQ(run.machine.run_state(), RunState::kCancelled);
}

TEST(MachineCancel, OneCancelledNodeHasItsDependantsSkippedAndFailsTheRun) {
  TestRun run;
  const NodeId a = run.Add();
  const NodeId b = run.Add({a});
  const NodeId c = run.Add();
  run.Start();
  EXPECT_TRUE(run.machine.CancelNode(a, 0, run.out));
  EXPECT_FALSE(run.machine.CancelNode(a, 0, run.out));
  EXPECT_EQ(run.State(a), NodeState::kCancelled);
  EXPECT_EQ(run.State(b), NodeState::kSkipped);
  EXPECT_EQ(run.machine.CauseOf(b), a);
  run.Do(c);
  EXPECT_EQ(run.machine.run_state(), RunState::kFailed);
}

TEST(MachineCancel, CancelOfATimedOutAttemptForbidsItsRetry) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 3, .timeout_ns = kSecond});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.Fire(run.TakeTimer());
  EXPECT_TRUE(run.machine.CancelNode(a, 0, run.out));
  EXPECT_FALSE(run.End(a, Outcome::kTimeout).retried);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
}

TEST(MachineCancel, TaskThatCancelsItselfIsNotTriedAgain) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 3});
  run.Start();
  run.Do(a, Outcome::kCancelled);
  EXPECT_EQ(run.State(a), NodeState::kCancelled);
  EXPECT_EQ(run.machine.CauseOf(a), a);
}

TEST(MachineWorkerLost, GuiltyAttemptIsLostAndUsesARetry) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.max_retries = 1});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  AttemptVerdict verdict = run.machine.WorkerLost(a, 1, false, 0, run.out);
  EXPECT_EQ(verdict.state, AttemptState::kLost);
  EXPECT_TRUE(verdict.retried);
  ASSERT_TRUE(run.Begin(a));
  verdict = run.machine.WorkerLost(a, 2, false, 0, run.out);
  EXPECT_FALSE(verdict.retried);
  EXPECT_EQ(run.State(a), NodeState::kFailed);
}

TEST(MachineWorkerLost, InnocentNodeRunsAgainWithoutUsingItsRetries) {
  TestRun run;
  const NodeId a = run.Add();  // has none
  run.Start();
  run.TakeReady();
  ASSERT_TRUE(run.Begin(a));
  const AttemptVerdict verdict = run.machine.WorkerLost(a, 1, true, 0, run.out);
  EXPECT_EQ(verdict.state, AttemptState::kLost);
  EXPECT_TRUE(verdict.retried);
  EXPECT_THAT(run.TakeReady(), ElementsAre(a));
  run.Do(a);
  EXPECT_EQ(run.State(a), NodeState::kSuccess);
}

TEST(MachineWorkerLost, InnocentNodeOfACancelledRunIsCancelled) {
  TestRun run;
  const NodeId a = run.Add();
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.machine.WorkerLost(a, 1, true, 0, run.out).state, AttemptState::kCancelled);
  EXPECT_EQ(run.State(a), NodeState::kCancelled);
}

TEST(MachineWorkerLost, WorkerKilledForATimeoutIsATimeout) {
  TestRun run;
  const NodeId a = run.AddWithPolicy({.timeout_ns = kSecond});
  run.Start();
  ASSERT_TRUE(run.Begin(a));
  run.Fire(run.TakeTimer());
  EXPECT_EQ(run.machine.WorkerLost(a, 1, false, 0, run.out).state, AttemptState::kTimeout);
}

}  // namespace
}  // namespace wf::dag
