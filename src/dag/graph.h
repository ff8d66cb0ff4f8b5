// A directed graph in compressed rows, and the two walks that need no more than its shape.
//
// Nodes are numbered from 0. An edge a -> b means "a before b". Nothing here recurses: a chain of any length is walked
// with a stack on the heap.
#ifndef WF_DAG_GRAPH_H_
#define WF_DAG_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wf::dag {

struct GraphEdge {
  uint32_t from = 0;
  uint32_t to = 0;
};

class Graph {
 public:
  // REQUIRES: every end of an edge is below `nodes`.
  Graph(size_t nodes, std::span<const GraphEdge> edges);

  size_t node_count() const { return offsets_.size() - 1; }
  // The nodes after `node`, in the order in which their edges were given.
  std::span<const uint32_t> After(uint32_t node) const {
    return {targets_.data() + offsets_[node], targets_.data() + offsets_[node + 1]};
  }

  // One cycle in the order of its edges, the first node, which is the smallest of the cycle, repeated at the end:
  // (a, b, a), or (a, a) for an edge to itself. Empty when there is none. Time is linear in nodes and edges.
  std::vector<uint32_t> FindCycle() const;

  // All nodes, each after the nodes before it; the smallest number first among those that are free. Shorter than
  // node_count() exactly when there is a cycle.
  std::vector<uint32_t> TopologicalOrder() const;

 private:
  std::vector<uint32_t> offsets_;
  std::vector<uint32_t> targets_;
};

// "a -> b -> a". A path of more than `max_names` names is shortened in the middle: "a -> b -> ... 4989 more ... -> a".
std::string FormatPath(std::span<const std::string> names, size_t max_names = 12);

}  // namespace wf::dag

#endif  // WF_DAG_GRAPH_H_
