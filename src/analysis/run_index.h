// RunIndex: a RunRecord put into the order in which analysis reads it.
//
// Keeps pointers into the record, which must outlive it. Records come from a store that a killed process may have left
// behind half-written, so everything that points nowhere (an attempt of an unknown node, a node of an unknown task) is
// left out here, once.
#ifndef WF_ANALYSIS_RUN_INDEX_H_
#define WF_ANALYSIS_RUN_INDEX_H_

#include <cstdint>
#include <vector>

#include "profile/run_record.h"

namespace wf::analysis {

// An attempt with its times on the clock of the run's owner.
struct Interval {
  const profile::Attempt* attempt = nullptr;
  const profile::Node* node = nullptr;
  size_t task = 0;  // index into RunRecord::tasks
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // of one that never ended: the end of the run
  bool finished = false;

  int64_t wall_ns() const { return end_ns - start_ns; }
};

struct RunIndex {
  explicit RunIndex(const profile::RunRecord& run_record);

  const profile::RunRecord& record;
  int64_t start_ns = 0;
  int64_t end_ns = 0;                             // of a run that has not ended: its last sign of life
  std::vector<Interval> intervals;                // by start
  std::vector<std::vector<size_t>> of_node;       // node index -> intervals, by attempt number
  std::vector<std::vector<size_t>> dependencies;  // node index -> node indices

  int64_t wall_ns() const { return end_ns - start_ns; }
};

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_RUN_INDEX_H_
