// What waits for what, in words: the answer to "why does nothing happen?".
#include <fmt/format.h>

#include <algorithm>

#include "dag/machine.h"

namespace wf::dag {

namespace {

constexpr size_t kMaxNames = 5;

std::string NameOf(NodeId id, const Machine::NodeNamer& namer) {
  return namer ? namer(id) : fmt::format("node {}", id);
}

// "a, b and 3 more"
std::string Listed(const std::vector<NodeId>& ids, const Machine::NodeNamer& namer) {
  const size_t shown = std::min(ids.size(), kMaxNames);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    text += NameOf(ids[i], namer);
  }
  if (ids.size() > shown) text += fmt::format(" and {} more", ids.size() - shown);
  return text;
}

}  // namespace

std::string Machine::ExplainLimits(const Node& node, const NodeNamer& namer) const {
  for (const LimitId limit : LeasesOf(node)) {
    if (limits_[limit].available > 0) continue;
    std::vector<NodeId> holders;
    for (NodeId id = 1; id < nodes_.size(); ++id) {
      if (nodes_[id].phase < Phase::kIssued || nodes_[id].phase >= Phase::kDelayed) continue;
      const std::span<const LimitId> leases = LeasesOf(nodes_[id]);
      if (std::find(leases.begin(), leases.end(), limit) != leases.end()) holders.push_back(id);
    }
    return fmt::format("waits for limit '{}' ({} of {} held by {})", limits_[limit].name, LimitInUse(limit),
                       limits_[limit].capacity, Listed(holders, namer));
  }
  return "waits for a limit that has units left";  // a fault of ours
}

std::string Machine::ExplainNode(NodeId id, const std::vector<NodeId>& waits_for, const NodeNamer& namer) const {
  const Node& node = nodes_[id];
  switch (node.phase) {
    case Phase::kBlocked:
      return waits_for.empty() ? fmt::format("waits for {} dependencies, none of them unfinished", node.unmet)
                               : fmt::format("waits for {}", Listed(waits_for, namer));
    case Phase::kIdle: return "waits for the start of the run";
    case Phase::kParked: return ExplainLimits(node, namer);
    case Phase::kIssued: return fmt::format("attempt {} is ready and waits for a worker", node.attempt);
    case Phase::kActive: return fmt::format("attempt {} runs", node.attempt);
    case Phase::kExpired: return fmt::format("attempt {} ran into its time-out and is being stopped", node.attempt);
    case Phase::kStopping: return fmt::format("attempt {} is being cancelled", node.attempt);
    case Phase::kDelayed: return fmt::format("waits for its retry after attempt {}", node.attempt);
    case Phase::kFinal: return std::string(base::Name(node.state));
  }
  return {};
}

std::string Machine::Explain(const NodeNamer& namer, size_t max_lines) const {
  std::vector<uint32_t> line_of(nodes_.size(), 0);  // 1 + index into shown; 0 = not shown
  std::vector<NodeId> shown;
  for (NodeId id = 1; id < nodes_.size() && shown.size() < max_lines; ++id) {
    if (nodes_[id].phase == Phase::kFinal) continue;
    shown.push_back(id);
    line_of[id] = static_cast<uint32_t>(shown.size());
  }
  std::vector<std::vector<NodeId>> waits_for(shown.size());
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    if (nodes_[id].phase == Phase::kFinal) continue;
    for (uint32_t e = nodes_[id].first_edge; e != 0; e = edges_[e].next) {
      if (line_of[edges_[e].to] == 0) continue;
      std::vector<NodeId>& names = waits_for[line_of[edges_[e].to] - 1];
      if (names.empty() || names.back() != id) names.push_back(id);  // a dependency may be named twice
    }
  }
  std::string text;
  for (size_t i = 0; i < shown.size(); ++i) {
    text += fmt::format("{}: {}\n", NameOf(shown[i], namer), ExplainNode(shown[i], waits_for[i], namer));
  }
  if (unfinished_ > shown.size()) text += fmt::format("and {} more unfinished\n", unfinished_ - shown.size());
  if (holds_ > 0) text += body_ended_ ? "the run is held open\n" : "the body of the workflow has not ended\n";
  if (text.empty()) text = "every node is final\n";
  return text;
}

Status Machine::CheckProgress(const NodeNamer& namer) const {
  if (!started_ || unfinished_ == 0 || in_flight_ > 0) return {};
  return Status(Code::kInternal,
                fmt::format("the scheduler is stuck: nothing runs, nothing is ready and {} tasks are not "
                            "done; please report this with\n{}",
                            unfinished_, Explain(namer)));
}

}  // namespace wf::dag
