// Why figures are missing from a run, as far as this machine can tell.
#ifndef WF_APP_ABSENT_REASONS_H_
#define WF_APP_ABSENT_REASONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/summary.h"
#include "profile/run_record.h"
#include "report/run_report.h"

namespace wf::app {

// What is known about the machine that a run was made on: only something when it is this one, not restarted since.
struct MachineOfRun {
  bool is_this_one = false;
  std::string host;
  std::optional<int64_t> memory_limit_bytes;  // the lower of the cgroup's limit and the memory there is
};

MachineOfRun FindMachineOfRun(const profile::RunRecord& record);

// A reason for each absent figure, asked from the probes when the run was made here.
std::vector<report::AbsentFigure> ReasonsFor(const std::vector<std::string>& absent,
                                             const analysis::RunSummary& summary, const profile::Run& run,
                                             const MachineOfRun& machine);

}  // namespace wf::app

#endif  // WF_APP_ABSENT_REASONS_H_
