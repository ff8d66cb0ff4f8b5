// Which tasks decided how long a finished run took, and how much the others had to spare.
//
// The critical path is walked back from the node that ended last: before each node comes the dependency that ended
// last, the one for which the node really waited. Waiting counts: a node becomes ready (its dependencies are done),
// waits for a worker or a limit, starts, ends.
//
// The slack of a node is how much later it could have ended without the run ending later, if every node after it had
// waited and run as long as it did. Nodes of the critical path have (nearly) none.
//
// Pure functions; any int64 line of nanoseconds. Nodes that did not run (skipped, cached) are left out by the caller.
#ifndef WF_DAG_CRITICAL_PATH_H_
#define WF_DAG_CRITICAL_PATH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "dag/graph.h"
#include "wf/status.h"

namespace wf::dag {

struct TimedNode {
  int64_t ready_ns = 0;
  int64_t start_ns = 0;  // at or after ready_ns
  int64_t end_ns = 0;    // at or after start_ns
};

struct CriticalPath {
  std::vector<uint32_t> nodes;    // in the order of execution; empty for no nodes
  int64_t run_ns = 0;             // sum of start to end over the path
  int64_t wait_ns = 0;            // sum of ready to start over the path
  std::vector<int64_t> slack_ns;  // of every node of the run, 0 or more
};

// Edges are indexes into `nodes`. kInvalidArgument: an edge leads out of the run, times run backwards, or the edges
// have a cycle.
Result<CriticalPath> FindCriticalPath(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges);

// When the run would have ended if node i had run `run_factor[i]` times as long (0.5: twice as fast), every wait kept.
// An estimate: it does not know which waits for workers would vanish too. Same errors; run_factor has one entry per
// node.
Result<int64_t> ProjectEnd(std::span<const TimedNode> nodes, std::span<const GraphEdge> edges,
                           std::span<const double> run_factor);

}  // namespace wf::dag

#endif  // WF_DAG_CRITICAL_PATH_H_
