#include "dag/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace wf::dag {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

// The nodes in an order that respects the edges.
Result<std::vector<uint32_t>> CheckedOrder(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].ready_ns > nodes[i].start_ns || nodes[i].start_ns > nodes[i].end_ns) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the times of node {} of the run go backwards: ready {}, start {}, end {} ns", i,
                                nodes[i].ready_ns, nodes[i].start_ns, nodes[i].end_ns));
    }
  }
  for (const GraphEdge& edge : edges) {
    if (edge.from >= nodes.size() || edge.to >= nodes.size()) {
      return Status(Code::kInvalidArgument, fmt::format("the edge {} -> {} leads out of the {} nodes of the run",
                                                        edge.from, edge.to, nodes.size()));
    }
  }
  std::vector<uint32_t> order = Graph(nodes.size(), edges).TopologicalOrder();
  if (order.size() != nodes.size()) {
    return Status(Code::kInvalidArgument, "the dependencies of the run have a cycle, so that it has no critical path");
  }
  return order;
}

// For each node the dependency that ended last (the smallest among equals), or kNone.
std::vector<uint32_t> LastDependencies(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges) {
  std::vector<uint32_t> last(nodes.size(), kNone);
  for (const GraphEdge& edge : edges) {
    uint32_t& best = last[edge.to];
    if (best == kNone || nodes[edge.from].end_ns > nodes[best].end_ns ||
        (nodes[edge.from].end_ns == nodes[best].end_ns && edge.from < best)) {
      best = edge.from;
    }
  }
  return last;
}

std::vector<int64_t> Slacks(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges,
                            const std::vector<uint32_t>& order, int64_t run_end_ns) {
  const Graph graph(nodes.size(), edges);
  std::vector<int64_t> latest_end(nodes.size(), run_end_ns);
  std::vector<int64_t> slack(nodes.size());
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    for (const uint32_t next : graph.After(*node)) {
      const int64_t needs_ns = nodes[next].end_ns - nodes[next].ready_ns;
      latest_end[*node] = std::min(latest_end[*node], latest_end[next] - needs_ns);
    }
    slack[*node] = std::max<int64_t>(0, latest_end[*node] - nodes[*node].end_ns);
  }
  return slack;
}

}  // namespace

Result<CriticalPath> FindCriticalPath(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges) {
  Result<std::vector<uint32_t>> order = CheckedOrder(nodes, edges);
  if (!order.ok()) return order.status();
  CriticalPath path;
  if (nodes.empty()) return path;
  const auto by_end = [](const TimedNode& a, const TimedNode& b) { return a.end_ns < b.end_ns; };
  const auto final_node = std::max_element(nodes.begin(), nodes.end(), by_end);
  const std::vector<uint32_t> before = LastDependencies(nodes, edges);
  for (auto node = static_cast<uint32_t>(final_node - nodes.begin()); node != kNone; node = before[node]) {
    path.nodes.push_back(node);
    path.run_ns += nodes[node].end_ns - nodes[node].start_ns;
    path.wait_ns += nodes[node].start_ns - nodes[node].ready_ns;
  }
  std::reverse(path.nodes.begin(), path.nodes.end());
  path.slack_ns = Slacks(nodes, edges, *order, final_node->end_ns);
  return path;
}

Result<int64_t> ProjectEnd(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges,
                           std::span<const double> run_factor) {
  WF_CHECK(run_factor.size() == nodes.size());
  Result<std::vector<uint32_t>> order = CheckedOrder(nodes, edges);
  if (!order.ok()) return order.status();
  if (nodes.empty()) return int64_t{0};
  const Graph graph(nodes.size(), edges);
  const std::vector<uint32_t> before = LastDependencies(nodes, edges);
  std::vector<int64_t> dependencies_end(nodes.size(), INT64_MIN);
  int64_t run_end = INT64_MIN;
  for (const uint32_t i : *order) {
    const TimedNode& node = nodes[i];
    int64_t ready_ns = node.ready_ns;
    if (before[i] != kNone)
      ready_ns = dependencies_end[i] + std::max<int64_t>(0, node.ready_ns - nodes[before[i]].end_ns);
    const double runs_ns = static_cast<double>(node.end_ns - node.start_ns) * std::max(0.0, run_factor[i]);
    const int64_t end_ns = ready_ns + (node.start_ns - node.ready_ns) + static_cast<int64_t>(runs_ns);
    run_end = std::max(run_end, end_ns);
    for (const uint32_t next : graph.After(i)) dependencies_end[next] = std::max(dependencies_end[next], end_ns);
  }
  return run_end;
}

}  // namespace wf::dag
