#include "dag/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/check.h"
#include "dag/graph.h"

namespace wf::dag {

namespace {

constexpr int64_t kMaxNs = std::numeric_limits<int64_t>::max();

int64_t SaturatingAdd(int64_t a, int64_t b) { return a > kMaxNs - b ? kMaxNs : a + b; }

// 0 <= result < 1, the same for the same arguments (splitmix64): a machine replayed with the same events gives the
// same commands.
double UnitHash(uint64_t seed, NodeId node, uint32_t attempt) {
  uint64_t x = seed + 0x9e3779b97f4a7c15u * ((uint64_t{node} << 32 | attempt) + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1.0p-53;
}

}  // namespace

Machine::Machine(MachineOptions options) : options_(options), nodes_(1), edges_(1), policies_(1), lease_sets_(1) {}

void Machine::Reserve(size_t nodes, size_t edges) {
  nodes_.reserve(nodes + 1);
  edges_.reserve(edges + 1);
}

// ---- transitions: each leaves the node in a consistent phase; Settle ends every event

void Machine::SetState(Node& node, NodeState state) {
  --counts_[static_cast<size_t>(node.state)];
  ++counts_[static_cast<size_t>(state)];
  node.state = state;
}

bool Machine::IsCurrent(NodeId id, uint32_t attempt) const {
  return Known(id) && nodes_[id].attempt == attempt && attempt != 0;
}

void Machine::DependenciesDone(NodeId id) {
  if (started_) {
    Admit(id);
  } else {
    nodes_[id].phase = Phase::kIdle;
  }
}

// A node that needs leases always queues, even where units are left: ServeLimits, at the end of the event, then serves
// everyone in the order of creation.
void Machine::Admit(NodeId id) {
  const std::span<const LimitId> leases = LeasesOf(nodes_[id]);
  if (leases.empty()) {
    Issue(id);
    return;
  }
  Park(id, leases.front());
  touched_limits_.push_back(leases.front());
}

void Machine::Issue(NodeId id) {
  Node& node = nodes_[id];
  ++node.attempt;
  ++in_flight_;
  node.phase = Phase::kIssued;
  if (node.state == NodeState::kWaiting) SetState(node, NodeState::kReady);
  issued_.push_back(id);
}

void Machine::TryAgain(NodeId id) {
  --in_flight_;
  Admit(id);
}

std::span<const LimitId> Machine::LeasesOf(const Node& node) const {
  const LeaseSet& set = lease_sets_[node.leases];
  return {lease_limits_.data() + set.begin, set.size};
}

void Machine::Park(NodeId id, LimitId limit) {
  nodes_[id].phase = Phase::kParked;
  std::vector<NodeId>& parked = limits_[limit].parked;
  parked.push_back(id);
  std::push_heap(parked.begin(), parked.end(), std::greater<>());
}

bool Machine::TakeLeases(NodeId id, LimitId* lacking) {
  const std::span<const LimitId> leases = LeasesOf(nodes_[id]);
  for (const LimitId limit : leases) {
    if (limits_[limit].available == 0) {
      *lacking = limit;
      return false;
    }
  }
  for (const LimitId limit : leases) --limits_[limit].available;
  return true;
}

void Machine::GiveLeases(const Node& node) {
  for (const LimitId limit : LeasesOf(node)) {
    ++limits_[limit].available;
    touched_limits_.push_back(limit);
  }
}

// A node that lacks a unit elsewhere moves to that queue, whose limit has none left: so the loop ends, and a limit with
// units left keeps no one waiting.
void Machine::ServeLimits() {
  for (const LimitId touched : touched_limits_) {
    Limit& limit = limits_[touched];
    while (limit.available > 0 && !limit.parked.empty()) {
      const NodeId id = limit.parked.front();
      std::pop_heap(limit.parked.begin(), limit.parked.end(), std::greater<>());
      limit.parked.pop_back();
      if (nodes_[id].phase != Phase::kParked) continue;  // final meanwhile
      LimitId lacking = 0;
      if (TakeLeases(id, &lacking)) {
        Issue(id);
      } else {
        Park(id, lacking);
      }
    }
  }
  touched_limits_.clear();
}

void Machine::Finalise(NodeId id, NodeState state, NodeId cause, Commands& out) {
  Node& node = nodes_[id];
  if (node.phase >= Phase::kIssued) {
    --in_flight_;
    if (node.phase != Phase::kDelayed) GiveLeases(node);
  }
  node.phase = Phase::kFinal;
  node.cause = cause;
  SetState(node, state);
  --unfinished_;
  out.push_back(
      {.kind = CommandKind::kNodeFinal, .node_state = state, .node = id, .attempt = node.attempt, .cause = cause});
}

void Machine::ReleaseDependants(NodeId id) {
  for (uint32_t e = nodes_[id].first_edge; e != 0; e = edges_[e].next) {
    Node& dependant = nodes_[edges_[e].to];
    if (dependant.phase == Phase::kBlocked && --dependant.unmet == 0) DependenciesDone(edges_[e].to);
  }
}

void Machine::SkipDependants(NodeId id, Commands& out) {
  skipping_.push_back(id);
  for (size_t i = 0; i < skipping_.size(); ++i) {
    for (uint32_t e = nodes_[skipping_[i]].first_edge; e != 0; e = edges_[e].next) {
      const NodeId dependant = edges_[e].to;
      if (nodes_[dependant].phase == Phase::kFinal) continue;
      Finalise(dependant, NodeState::kSkipped, id, out);
      skipping_.push_back(dependant);
    }
  }
  skipping_.clear();
}

void Machine::Settle(Commands& out) {
  if (!touched_limits_.empty()) ServeLimits();
  if (!issued_.empty()) {
    if (!std::is_sorted(issued_.begin(), issued_.end())) std::sort(issued_.begin(), issued_.end());
    for (const NodeId id : issued_) {
      out.push_back({.kind = CommandKind::kReady, .node = id, .attempt = nodes_[id].attempt});
    }
    issued_.clear();
  }
  if (unfinished_ == 0 && holds_ == 0) FinishRunIfDone(out);
}

void Machine::FinishRunIfDone(Commands& out) {
  if (run_state_ != RunState::kRunning || !(started_ || cancelled_ || body_failed_)) return;
  const auto count = [this](NodeState state) { return counts_[static_cast<size_t>(state)]; };
  if (body_failed_) {
    run_state_ = RunState::kFailed;
  } else if (cancelled_) {
    run_state_ = RunState::kCancelled;
  } else if (count(NodeState::kFailed) + count(NodeState::kSkipped) + count(NodeState::kCancelled) > 0) {
    run_state_ = RunState::kFailed;
  } else {
    run_state_ = RunState::kSuccess;
  }
  out.push_back({.kind = CommandKind::kRunFinal, .run_state = run_state_});
}

// ---- the run

Status Machine::Start(int64_t /*now*/, Commands& out, const NodeNamer& namer) {
  if (started_ || run_state_ != RunState::kRunning) return {};
  if (may_have_cycle_ && options_.check_cycles) {
    const std::vector<NodeId> cycle = FindCycle();
    if (!cycle.empty()) {
      std::vector<std::string> names;
      for (const NodeId id : cycle) names.push_back(namer ? namer(id) : fmt::format("node {}", id));
      return Status(
          Code::kInvalidArgument,
          fmt::format("the workflow cannot start, its tasks wait for each other in a cycle: {}; remove one of "
                      "these dependencies",
                      FormatPath(names)));
    }
  }
  started_ = true;
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    if (nodes_[id].phase == Phase::kIdle) Admit(id);
  }
  Settle(out);
  return {};
}

void Machine::BodyEnded(BodyOutcome outcome, int64_t now, Commands& out) {
  if (body_ended_) return;
  body_ended_ = true;
  if (outcome == BodyOutcome::kError && !cancelled_) body_failed_ = true;
  ReleaseHold(now, out);
}

void Machine::ReleaseHold(int64_t /*now*/, Commands& out) {
  WF_CHECK(holds_ > 0);
  --holds_;
  Settle(out);
}

void Machine::Cancel(int64_t /*now*/, Commands& out) {
  if (cancelled_ || run_state_ != RunState::kRunning) return;
  cancelled_ = true;
  for (NodeId id = 1; id < nodes_.size(); ++id) StopNode(id, kNoNode, out);
  Settle(out);
}

bool Machine::CancelNode(NodeId node, int64_t /*now*/, Commands& out) {
  if (!Known(node) || !StopNode(node, node, out)) return false;
  if (nodes_[node].phase == Phase::kFinal) SkipDependants(node, out);
  Settle(out);
  return true;
}

bool Machine::StopNode(NodeId id, NodeId cause, Commands& out) {
  Node& node = nodes_[id];
  switch (node.phase) {
    case Phase::kFinal:
    case Phase::kStopping: return false;
    case Phase::kExpired:  // is being stopped already, and stays a time-out; but it gets no retry any more
      node.retries_used = std::numeric_limits<uint16_t>::max();
      return true;
    case Phase::kActive:
      node.phase = Phase::kStopping;
      out.push_back({.kind = CommandKind::kCancelAttempt, .node = id, .attempt = node.attempt});
      return true;
    default: Finalise(id, NodeState::kCancelled, cause, out); return true;
  }
}

// ---- events of attempts

bool Machine::AttemptStarted(NodeId id, uint32_t attempt, int64_t now, Commands& out) {
  if (!IsCurrent(id, attempt) || nodes_[id].phase != Phase::kIssued) return false;
  Node& node = nodes_[id];
  node.phase = Phase::kActive;
  if (node.state != NodeState::kRunning) SetState(node, NodeState::kRunning);
  const int64_t timeout_ns = policies_[node.policy].timeout_ns;
  if (timeout_ns > 0) {
    out.push_back({.kind = CommandKind::kSetTimer,
                   .timer = TimerKind::kTimeout,
                   .node = id,
                   .attempt = attempt,
                   .at_ns = SaturatingAdd(now, timeout_ns)});
  }
  return true;
}

AttemptVerdict Machine::AttemptFinished(NodeId id, uint32_t attempt, Outcome outcome, int64_t now, Commands& out,
                                        bool retryable) {
  if (!IsCurrent(id, attempt)) return {};
  static constexpr std::array kStateOf = {AttemptState::kSuccess, AttemptState::kError, AttemptState::kTimeout,
                                          AttemptState::kCancelled, AttemptState::kLost};
  const AttemptState state = kStateOf[static_cast<size_t>(outcome)];
  switch (nodes_[id].phase) {
    case Phase::kIssued:
    case Phase::kActive: return Conclude(id, state, retryable, now, out);
    case Phase::kExpired: return Conclude(id, AttemptState::kTimeout, retryable, now, out);
    case Phase::kStopping:
      return Conclude(id, outcome == Outcome::kSuccess ? state : AttemptState::kCancelled, false, now, out);
    default: return {};
  }
}

AttemptVerdict Machine::WorkerLost(NodeId id, uint32_t attempt, bool innocent, int64_t now, Commands& out) {
  const bool rerun =
      innocent && IsCurrent(id, attempt) && (nodes_[id].phase == Phase::kIssued || nodes_[id].phase == Phase::kActive);
  if (!rerun) return AttemptFinished(id, attempt, Outcome::kLost, now, out);
  GiveLeases(nodes_[id]);
  TryAgain(id);
  Settle(out);
  return {.accepted = true, .state = AttemptState::kLost, .retried = true};
}

AttemptVerdict Machine::Conclude(NodeId id, AttemptState state, bool may_retry, int64_t now, Commands& out) {
  Node& node = nodes_[id];
  if (state == AttemptState::kSuccess) {
    Finalise(id, NodeState::kSuccess, kNoNode, out);
    ReleaseDependants(id);
  } else if (state == AttemptState::kCancelled) {
    Finalise(id, NodeState::kCancelled, cancelled_ ? kNoNode : id, out);
    SkipDependants(id, out);
  } else if (may_retry && node.retries_used < policies_[node.policy].max_retries) {
    ++node.retries_used;
    GiveLeases(node);
    const int64_t delay_ns = RetryDelay(id);
    if (delay_ns > 0) {
      node.phase = Phase::kDelayed;
      out.push_back({.kind = CommandKind::kSetTimer,
                     .timer = TimerKind::kRetry,
                     .node = id,
                     .attempt = node.attempt,
                     .at_ns = SaturatingAdd(now, delay_ns)});
    } else {
      TryAgain(id);
    }
    Settle(out);
    return {.accepted = true, .state = state, .retried = true};
  } else {
    Finalise(id, NodeState::kFailed, id, out);
    SkipDependants(id, out);
  }
  Settle(out);
  return {.accepted = true, .state = state};
}

int64_t Machine::RetryDelay(NodeId id) const {
  const Node& node = nodes_[id];
  const RetryPolicy& policy = policies_[node.policy];
  if (policy.retry_delay_ns == 0) return 0;
  const double bound = policy.max_delay_ns > 0 ? static_cast<double>(policy.max_delay_ns) : 0x1.0p62;
  double delay_ns = static_cast<double>(policy.retry_delay_ns) * std::pow(policy.backoff, node.retries_used - 1);
  delay_ns = std::min(delay_ns, bound);  // also an infinite one
  if (policy.jitter > 0) delay_ns *= 1 - policy.jitter * UnitHash(options_.jitter_seed, id, node.attempt);
  return static_cast<int64_t>(delay_ns);
}

bool Machine::TimerFired(NodeId id, uint32_t attempt, TimerKind kind, int64_t /*now*/, Commands& out) {
  if (!IsCurrent(id, attempt)) return false;
  Node& node = nodes_[id];
  if (kind == TimerKind::kRetry && node.phase == Phase::kDelayed) {
    TryAgain(id);
    Settle(out);
    return true;
  }
  if (kind == TimerKind::kTimeout && node.phase == Phase::kActive) {
    node.phase = Phase::kExpired;
    out.push_back(
        {.kind = CommandKind::kCancelAttempt, .reason = CancelReason::kTimeout, .node = id, .attempt = attempt});
    return true;
  }
  return false;
}

bool Machine::MarkCached(NodeId id, int64_t /*now*/, Commands& out) {
  if (!Known(id)) return false;
  const NodeState state = nodes_[id].state;
  if (state != NodeState::kWaiting && state != NodeState::kReady) return false;
  Finalise(id, NodeState::kCached, kNoNode, out);
  ReleaseDependants(id);
  Settle(out);
  return true;
}

}  // namespace wf::dag
