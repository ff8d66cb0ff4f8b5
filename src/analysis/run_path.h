// The chain of attempts that decided when the run ended: what to shorten first.
//
// Found backwards from the attempt that ended last. What an attempt waited for is, in this order: the attempt before it
// of the same node; when it stood ready for a while, the attempt that freed its worker; else the dependency that ended
// last. So a run on one worker has all its attempts on the path, and a run with enough workers has the longest chain of
// the graph on it.
#ifndef WF_ANALYSIS_RUN_PATH_H_
#define WF_ANALYSIS_RUN_PATH_H_

#include <cstdint>
#include <vector>

#include "analysis/run_index.h"

namespace wf::analysis {

struct PathStep {
  size_t interval = 0;  // index into RunIndex::intervals
  size_t task = 0;      // index into RunRecord::tasks
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// In the order of time; steps do not overlap. Empty when nothing ran.
std::vector<PathStep> FindRunPath(const RunIndex& index);

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_RUN_PATH_H_
