// Timeline: one pass over all attempts of a run in the order of time, for everything that depends on what overlapped.
#ifndef WF_ANALYSIS_TIMELINE_H_
#define WF_ANALYSIS_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "analysis/run_index.h"

namespace wf::analysis {

struct TaskTimeline {
  int64_t wall_ns = 0;        // while at least one attempt of the task ran: overlapping attempts count once
  int64_t cpu_wall_ns = 0;    // the same, of the attempts whose CPU is known
  double machine_cpu_ns = 0;  // CPU of all attempts of the run during wall_ns, each spread evenly over its own time
};

struct Timeline {
  std::vector<TaskTimeline> tasks;  // as RunRecord::tasks
  std::vector<double> own_part;     // as RunIndex::intervals: the average of 1/k over the attempt's time, k being
                                    // the attempts open in its process. What a kShared amount is scaled by.
  int64_t idle_ns = 0;              // nothing ran
  int64_t idle_ready_ns = 0;        // nothing ran although a node was ready
  int64_t before_first_ns = 0;      // start of the run to the first attempt
  int64_t after_last_ns = 0;        // end of the last attempt to the end of the run
};

Timeline MakeTimeline(const RunIndex& index);

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_TIMELINE_H_
