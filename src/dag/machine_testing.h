// For tests of the machine: a machine with its commands sorted by kind, and a clock that the test moves.
#ifndef WF_DAG_MACHINE_TESTING_H_
#define WF_DAG_MACHINE_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "dag/machine.h"

namespace wf::dag {

class TestRun {
 public:
  using Ids = std::vector<NodeId>;

  explicit TestRun(MachineOptions options = {}) : machine(options) {}

  // Adds a node that must be accepted.
  NodeId Add(const Ids& deps = {}, const Ids& after = {}) { return AddSpec({.data_deps = deps, .after_deps = after}); }
  NodeId AddSpec(const NodeSpec& spec) {
    Result<NodeId> id = machine.AddNode(spec, now, out);
    EXPECT_TRUE(id.ok()) << id.status().message();
    return id.ok() ? *id : kNoNode;
  }
  NodeId AddWithPolicy(const RetryPolicy& policy, const Ids& deps = {}) {
    return AddSpec({.data_deps = deps, .policy = policy});
  }
  NodeId AddWithLimits(const std::vector<LimitId>& limits, const Ids& deps = {}) {
    return AddSpec({.data_deps = deps, .limits = limits});
  }
  // The body ends, everything that can start does.
  void Start() {
    ASSERT_TRUE(machine.Start(now, out).ok());
    machine.BodyEnded(BodyOutcome::kSuccess, now, out);
  }
  bool Begin(NodeId id) { return machine.AttemptStarted(id, machine.AttemptOf(id), now, out); }
  AttemptVerdict End(NodeId id, Outcome outcome = Outcome::kSuccess) {
    return machine.AttemptFinished(id, machine.AttemptOf(id), outcome, now, out);
  }
  AttemptVerdict Do(NodeId id, Outcome outcome = Outcome::kSuccess) {
    EXPECT_TRUE(Begin(id)) << "node " << id;
    return End(id, outcome);
  }
  bool Fire(const Command& timer) { return machine.TimerFired(timer.node, timer.attempt, timer.timer, now, out); }

  // The commands of one kind since the last call for this kind.
  std::vector<Command> Take(CommandKind kind) {
    std::vector<Command> taken;
    std::vector<Command> kept;
    for (const Command& command : out) (command.kind == kind ? taken : kept).push_back(command);
    out = std::move(kept);
    return taken;
  }
  Ids TakeReady() {
    Ids ids;
    for (const Command& command : Take(CommandKind::kReady)) ids.push_back(command.node);
    return ids;
  }
  // The one timer set since the last call.
  Command TakeTimer() {
    const std::vector<Command> timers = Take(CommandKind::kSetTimer);
    EXPECT_EQ(timers.size(), 1u);
    return timers.empty() ? Command{} : timers.front();
  }
  NodeState State(NodeId id) const { return machine.StateOf(id); }
  uint32_t Count(NodeState state) const { return machine.Counts()[static_cast<size_t>(state)]; }

  Machine machine;
  Commands out;
  int64_t now = 0;
};

}  // namespace wf::dag

#endif  // WF_DAG_MACHINE_TESTING_H_
