// A run that says "running" while nobody lives to finish it is lost. Judged when it is read; nothing is written.
#ifndef WF_STORE_LOST_RUN_H_
#define WF_STORE_LOST_RUN_H_

#include <string>

#include "base/process_id.h"
#include "profile/run_record.h"
#include "store/rows.h"

namespace wf::store {

// An owner that cannot be seen from here (other host, other PID namespace) counts as gone after so long without a sign.
inline constexpr int64_t kMostSilenceNs = 60'000'000'000;

// Why the run of this row is lost; empty when it is not. `liveness`: of its owner; `now_wall_ns`: this host's clock.
std::string WhyLost(const RunRow& row, base::Liveness liveness, int64_t now_wall_ns);

// The run as a reader sees it: a lost one gets that state, its cause, and its last sign of life as its end.
void JudgeRun(RunRow& row);

// What was open in a lost run: running attempts are lost, running nodes failed, with the run's cause and end.
void CloseOpenRows(profile::RunRecord& record);

}  // namespace wf::store

#endif  // WF_STORE_LOST_RUN_H_
