// Building the graph: nodes, edges, policies, limits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "dag/graph.h"
#include "dag/machine.h"

namespace wf::dag {

namespace {

bool IsDone(NodeState state) { return state == NodeState::kSuccess || state == NodeState::kCached; }

Status CheckPolicy(const RetryPolicy& policy) {
  if (policy.retry_delay_ns < 0 || policy.max_delay_ns < 0 || policy.timeout_ns < 0) {
    return Status(Code::kInvalidArgument, "a retry delay and a time-out must not be negative; 0 means none");
  }
  if (!(policy.backoff >= 1) || !std::isfinite(policy.backoff)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the backoff of retries is {}; it multiplies each further delay and must be 1 or more",
                              policy.backoff));
  }
  if (!(policy.jitter >= 0 && policy.jitter <= 1)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the jitter of retries is {}; it is a share of the delay and must lie between 0 and 1",
                              policy.jitter));
  }
  return {};
}

}  // namespace

Result<LimitId> Machine::AddLimit(std::string_view name, uint32_t capacity) {
  if (capacity == 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("limit '{}' has capacity 0, so that nothing could ever run; it must be 1 or more", name));
  }
  for (LimitId id = 0; id < limits_.size(); ++id) {
    if (limits_[id].name != name) continue;
    if (limits_[id].capacity == capacity) return id;
    return Status(
        Code::kAlreadyExists,
        fmt::format("limit '{}' exists with capacity {} and cannot also have {}; use one value or another name", name,
                    limits_[id].capacity, capacity));
  }
  limits_.push_back({.name = std::string(name), .capacity = capacity, .available = capacity, .parked = {}});
  return static_cast<LimitId>(limits_.size() - 1);
}

Status Machine::CheckSpec(const NodeSpec& spec) const {
  const auto unknown = [this](NodeId id) { return !Known(id); };
  if (std::any_of(spec.data_deps.begin(), spec.data_deps.end(), unknown) ||
      std::any_of(spec.after_deps.begin(), spec.after_deps.end(), unknown)) {
    return Status(Code::kInvalidArgument, "a node depends on one that is not part of this run");
  }
  if (spec.parent != kNoNode && unknown(spec.parent)) {
    return Status(Code::kInvalidArgument, "the parent of a node is not part of this run");
  }
  for (size_t i = 0; i < spec.limits.size(); ++i) {
    if (spec.limits[i] >= limits_.size()) {
      return Status(Code::kInvalidArgument, "a node names a limit that was not declared with AddLimit");
    }
    if (std::find(spec.limits.begin(), spec.limits.begin() + static_cast<ptrdiff_t>(i), spec.limits[i]) !=
        spec.limits.begin() + static_cast<ptrdiff_t>(i)) {
      return Status(Code::kInvalidArgument, fmt::format("a node names limit '{}' twice", limits_[spec.limits[i]].name));
    }
  }
  return CheckPolicy(spec.policy);
}

// Nodes of one task follow each other and share their policy and limits: comparing with the last entry finds most.
uint32_t Machine::InternPolicy(const RetryPolicy& policy) {
  if (policy == policies_.front()) return 0;
  if (policy != policies_.back()) policies_.push_back(policy);
  return static_cast<uint32_t>(policies_.size() - 1);
}

uint32_t Machine::InternLeases(std::span<const LimitId> limits) {
  if (limits.empty()) return 0;
  const LeaseSet& last = lease_sets_.back();
  const bool same = std::equal(limits.begin(), limits.end(), lease_limits_.begin() + last.begin,
                               lease_limits_.begin() + last.begin + last.size);
  if (!same) {
    lease_sets_.push_back(
        {.begin = static_cast<uint32_t>(lease_limits_.size()), .size = static_cast<uint32_t>(limits.size())});
    lease_limits_.insert(lease_limits_.end(), limits.begin(), limits.end());
  }
  return static_cast<uint32_t>(lease_sets_.size() - 1);
}

void Machine::AppendEdge(NodeId from, NodeId to) {
  const auto edge = static_cast<uint32_t>(edges_.size());
  edges_.push_back({.to = to, .next = 0});
  Node& node = nodes_[from];
  (node.first_edge == 0 ? node.first_edge : edges_[node.last_edge].next) = edge;
  node.last_edge = edge;
}

// Makes `id` wait for `dep`. False if `dep` has ended without success: `id` is skipped.
bool Machine::Depend(NodeId id, NodeId dep, Commands& out) {
  const Node& dependency = nodes_[dep];
  if (IsDone(dependency.state)) return true;
  if (dependency.phase == Phase::kFinal) {
    Finalise(id, NodeState::kSkipped, dependency.cause, out);
    SkipDependants(id, out);
    return false;
  }
  AppendEdge(dep, id);
  nodes_[id].phase = Phase::kBlocked;
  ++nodes_[id].unmet;
  return true;
}

Result<NodeId> Machine::AddNode(const NodeSpec& spec, int64_t /*now*/, Commands& out) {
  if (run_state_ != RunState::kRunning) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("the run is over ({}); a task can only be added while it goes on", base::Name(run_state_)));
  }
  if (nodes_.size() >= std::numeric_limits<NodeId>::max() ||
      edges_.size() + spec.data_deps.size() + spec.after_deps.size() >= std::numeric_limits<uint32_t>::max()) {
    return Status(Code::kInvalidArgument, "a run holds at most 4294967294 tasks and as many dependencies");
  }
  WF_RETURN_IF_ERROR(CheckSpec(spec));
  const auto id = static_cast<NodeId>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.task = spec.task;
  node.parent = spec.parent;
  node.policy = InternPolicy(spec.policy);
  node.leases = InternLeases(spec.limits);
  ++counts_[static_cast<size_t>(NodeState::kWaiting)];
  ++unfinished_;
  if (cancelled_) {
    Finalise(id, NodeState::kCancelled, kNoNode, out);
  } else {
    bool usable = true;
    for (size_t i = 0; usable && i < spec.data_deps.size(); ++i) usable = Depend(id, spec.data_deps[i], out);
    for (size_t i = 0; usable && i < spec.after_deps.size(); ++i) usable = Depend(id, spec.after_deps[i], out);
    if (usable && node.unmet == 0) DependenciesDone(id);
  }
  Settle(out);
  return id;
}

Status Machine::AddAfter(NodeId node, NodeId dep, Commands& out) {
  if (!Known(node) || !Known(dep)) {
    return Status(Code::kInvalidArgument, "an order was asked for between nodes that are not both part of this run");
  }
  if (started_ || run_state_ != RunState::kRunning) {
    return Status(Code::kFailedPrecondition,
                  "the run has started; give the dependencies of a new task when it is added");
  }
  if (nodes_[node].phase == Phase::kFinal) return {};
  may_have_cycle_ = true;
  Depend(node, dep, out);
  Settle(out);
  return {};
}

std::vector<NodeId> Machine::FindCycle() const {
  std::vector<GraphEdge> edges;
  edges.reserve(edges_.size());
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    if (nodes_[id].phase == Phase::kFinal) continue;
    for (uint32_t e = nodes_[id].first_edge; e != 0; e = edges_[e].next) {
      if (nodes_[edges_[e].to].phase != Phase::kFinal) edges.push_back({.from = id, .to = edges_[e].to});
    }
  }
  return Graph(nodes_.size(), edges).FindCycle();
}

bool Machine::IsDescendant(NodeId node, NodeId ancestor) const {
  WF_CHECK(Known(node) && Known(ancestor));
  for (NodeId parent = nodes_[node].parent; parent != kNoNode; parent = nodes_[parent].parent) {
    if (parent == ancestor) return true;
  }
  return false;
}

}  // namespace wf::dag
