// Hot spots: where in the code the time of each task goes, from the stacks that were recorded.
//
// Time is given to the innermost frame of the program's own code, the line that its author can change; what was called
// there, when it is a library's function, is named beside it. Within an attempt waiting counts, since it takes the
// attempt's time too; in a recording, which has no attempts, it does not: parked threads would be all of it.
#ifndef WF_ANALYSIS_HOT_SPOTS_H_
#define WF_ANALYSIS_HOT_SPOTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/run_record.h"
#include "profile/stacks.h"

namespace wf::analysis {

struct HotSpot {
  std::string function;  // qualified
  std::string file;      // as short as is unambiguous
  int32_t line = 0;      // 0: not known
  std::string calls;     // the library's function in which most of it is spent; empty: none
  int64_t weight_ns = 0;
  int64_t waiting_ns = 0;  // of it
  uint64_t samples = 0;
  double share = 0;  // of the task's
};

struct TaskHotSpots {
  std::string task;  // empty: what a recording's threads did outside of the tasks that it met
  int64_t weight_ns = 0;
  uint64_t samples = 0;
  std::vector<HotSpot> spots;  // the heaviest first
};

struct HotSpots {
  profile::StackMeta meta;
  std::vector<TaskHotSpots> tasks;  // the heaviest first
};

// At most `most` spots of each task.
HotSpots FindHotSpots(const profile::StackProfile& stacks, const profile::RunRecord& record, size_t most);

// By id of the attempt, the index of its task in RunRecord::tasks.
std::unordered_map<uint64_t, uint32_t> TaskOfAttempts(const profile::RunRecord& record);

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_HOT_SPOTS_H_
