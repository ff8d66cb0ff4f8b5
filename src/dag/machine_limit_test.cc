// Limits and their leases.
#include "dag/machine_testing.h"

namespace wf::dag {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MachineLimit, NoMoreNodesThanItsCapacityAreIssuedAndTheOldestComesNext) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 2);
  for (int i = 0; i < 4; ++i) run.AddWithLimits({gpu});
  run.Start();
  EXPECT_THAT(run.TakeReady(), ElementsAre(1, 2));
  EXPECT_EQ(run.machine.LimitInUse(gpu), 2u);
  EXPECT_EQ(run.State(3), NodeState::kWaiting);
  run.Do(2);
  EXPECT_THAT(run.TakeReady(), ElementsAre(3));
}

TEST(MachineLimit, NodesWithoutItAreNotHeldUp) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 1);
  run.AddWithLimits({gpu});
  run.AddWithLimits({gpu});
  run.Add();
  run.Start();
  EXPECT_THAT(run.TakeReady(), ElementsAre(1, 3));
}

TEST(MachineLimit, NodeTakesAllItsLimitsOrNone) {
  TestRun run;
  const LimitId x = *run.machine.AddLimit("x", 1);
  const LimitId y = *run.machine.AddLimit("y", 1);
  const NodeId holds_y = run.AddWithLimits({y});
  const NodeId both = run.AddWithLimits({x, y});
  const NodeId only_x = run.AddWithLimits({x});
  run.Start();
  EXPECT_THAT(run.TakeReady(), ElementsAre(holds_y, only_x));
  run.Do(holds_y);
  EXPECT_THAT(run.TakeReady(), IsEmpty());
  run.Do(only_x);
  EXPECT_THAT(run.TakeReady(), ElementsAre(both));
}

TEST(MachineLimit, UnitIsFreeAfterEveryWayToEnd) {
  for (const Outcome outcome :
       {Outcome::kSuccess, Outcome::kError, Outcome::kTimeout, Outcome::kCancelled, Outcome::kLost}) {
    TestRun run;
    const LimitId gpu = *run.machine.AddLimit("gpu", 1);
    const NodeId a = run.AddWithLimits({gpu});
    const NodeId b = run.AddWithLimits({gpu});
    run.Start();
    run.TakeReady();
    run.Do(a, outcome);
    EXPECT_THAT(run.TakeReady(), ElementsAre(b)) << static_cast<int>(outcome);
    run.Do(b);
    EXPECT_EQ(run.machine.LimitInUse(gpu), 0u);
  }
}

TEST(MachineLimit, NodeCancelledBeforeItsStartGivesItsUnitBack) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 1);
  const NodeId a = run.AddWithLimits({gpu});
  const NodeId b = run.AddWithLimits({gpu});
  run.Start();
  run.TakeReady();
  run.machine.CancelNode(a, 0, run.out);
  EXPECT_THAT(run.TakeReady(), ElementsAre(b));
}

TEST(MachineLimit, NodeCancelledWhileItWaitsForAUnitIsPassedOver) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 1);
  const NodeId a = run.AddWithLimits({gpu});
  const NodeId b = run.AddWithLimits({gpu});
  const NodeId c = run.AddWithLimits({gpu});
  run.Start();
  run.TakeReady();
  run.machine.CancelNode(b, 0, run.out);
  run.Do(a);
  EXPECT_THAT(run.TakeReady(), ElementsAre(c));
}

TEST(MachineLimit, RetryDelayHoldsNothing) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 1);
  const std::vector<LimitId> limits = {gpu};
  const NodeId a = run.AddSpec({.policy = {.max_retries = 1, .retry_delay_ns = 5}, .limits = limits});
  const NodeId b = run.AddWithLimits({gpu});
  run.Start();
  run.TakeReady();
  run.Do(a, Outcome::kError);
  EXPECT_THAT(run.TakeReady(), ElementsAre(b));
  run.Fire(run.TakeTimer());
  EXPECT_THAT(run.TakeReady(), IsEmpty());  // its unit is with b now
  run.Do(b);
  EXPECT_THAT(run.TakeReady(), ElementsAre(a));
}

TEST(MachineLimit, CancelledRunHoldsNothingOnceItsAttemptsHaveStopped) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 2);
  for (int i = 0; i < 5; ++i) run.AddWithLimits({gpu});
  run.Start();
  run.TakeReady();
  ASSERT_TRUE(run.Begin(1));
  run.machine.Cancel(0, run.out);
  EXPECT_EQ(run.machine.LimitInUse(gpu), 1u);
  EXPECT_THAT(run.TakeReady(), IsEmpty());
  run.End(1, Outcome::kCancelled);
  EXPECT_EQ(run.machine.LimitInUse(gpu), 0u);
}

TEST(MachineLimit, SameNameGivesTheSameLimitAndAnotherCapacityIsRefused) {
  TestRun run;
  const LimitId gpu = *run.machine.AddLimit("gpu", 2);
  EXPECT_EQ(*run.machine.AddLimit("gpu", 2), gpu);
  const Result<LimitId> other = run.machine.AddLimit("gpu", 3);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), Code::kAlreadyExists);
  EXPECT_THAT(other.status().message(), HasSubstr("'gpu'"));
}

TEST(MachineLimit, CapacityZeroIsRefused) {
  TestRun run;
  EXPECT_EQ(run.machine.AddLimit("gpu", 0).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace wf::dag
