// Before and after: two runs compared task by task, by name.
//
// One pair of runs has no statistics: a ratio says what was measured this once, not how often it would be so.
#ifndef WF_ANALYSIS_DIFF_H_
#define WF_ANALYSIS_DIFF_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/summary.h"

namespace wf::analysis {

struct Change {
  profile::Figure before;
  profile::Figure after;
  std::optional<double> ratio;  // after / before; absent when either is, or when before is 0
};

struct DiffRow {
  std::string task;  // empty: the whole run
  bool in_before = false;
  bool in_after = false;
  uint64_t attempts_before = 0;
  uint64_t attempts_after = 0;
  Change wall_ns;
  Change cpu_ns;
  Change memory_peak_bytes;
};

struct Diff {
  DiffRow run;
  std::vector<DiffRow> tasks;  // largest difference of wall time first
  int runs_before = 1;
  int runs_after = 1;
};

Diff Compare(const RunSummary& before, const RunSummary& after);

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_DIFF_H_
