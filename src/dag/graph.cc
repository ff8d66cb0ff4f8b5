#include "dag/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "base/check.h"

namespace wf::dag {

Graph::Graph(size_t nodes, std::span<const GraphEdge> edges) : offsets_(nodes + 1, 0), targets_(edges.size()) {
  for (const GraphEdge& edge : edges) {
    WF_CHECK(edge.from < nodes && edge.to < nodes);
    ++offsets_[edge.from + 1];
  }
  for (size_t i = 1; i <= nodes; ++i) offsets_[i] += offsets_[i - 1];
  std::vector<uint32_t> next(offsets_.begin(), offsets_.end() - 1);
  for (const GraphEdge& edge : edges) targets_[next[edge.from]++] = edge.to;
}

namespace {

// The part of the depth-first path from `first` on, turned so that its smallest node comes first.
std::vector<uint32_t> CycleFrom(std::span<const uint32_t> path, uint32_t first) {
  std::vector<uint32_t> cycle(std::find(path.begin(), path.end(), first), path.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  cycle.push_back(cycle.front());
  return cycle;
}

}  // namespace

std::vector<uint32_t> Graph::FindCycle() const {
  enum class Colour : uint8_t { kNew, kOnPath, kDone };
  std::vector<Colour> colour(node_count(), Colour::kNew);
  std::vector<uint32_t> next_edge(offsets_.begin(), offsets_.end() - 1);
  std::vector<uint32_t> path;
  for (uint32_t root = 0; root < node_count(); ++root) {
    if (colour[root] != Colour::kNew) continue;
    colour[root] = Colour::kOnPath;
    path.push_back(root);
    while (!path.empty()) {
      const uint32_t node = path.back();
      if (next_edge[node] == offsets_[node + 1]) {
        colour[node] = Colour::kDone;
        path.pop_back();
        continue;
      }
      const uint32_t target = targets_[next_edge[node]++];
      if (colour[target] == Colour::kOnPath) return CycleFrom(path, target);
      if (colour[target] == Colour::kNew) {
        colour[target] = Colour::kOnPath;
        path.push_back(target);
      }
    }
  }
  return {};
}

std::vector<uint32_t> Graph::TopologicalOrder() const {
  std::vector<uint32_t> unmet(node_count(), 0);
  for (const uint32_t target : targets_) ++unmet[target];
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;
  for (uint32_t node = 0; node < node_count(); ++node) {
    if (unmet[node] == 0) free.push(node);
  }
  std::vector<uint32_t> order;
  order.reserve(node_count());
  while (!free.empty()) {
    const uint32_t node = free.top();
    free.pop();
    order.push_back(node);
    for (const uint32_t target : After(node)) {
      if (--unmet[target] == 0) free.push(target);
    }
  }
  return order;
}

std::string FormatPath(std::span<const std::string> names, size_t max_names) {
  constexpr std::string_view kArrow = " -> ";
  const size_t shown = std::max<size_t>(max_names, 3);
  const size_t head = names.size() <= shown ? names.size() : shown - shown / 2;
  const size_t tail = names.size() <= shown ? 0 : shown / 2;
  std::string text;
  for (size_t i = 0; i < head; ++i) {
    if (i > 0) text += kArrow;
    text += names[i];
  }
  if (tail == 0) return text;
  text += fmt::format("{}... {} more ...", kArrow, names.size() - head - tail);
  for (size_t i = names.size() - tail; i < names.size(); ++i) {
    text += kArrow;
    text += names[i];
  }
  return text;
}

}  // namespace wf::dag
