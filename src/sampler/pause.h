// Pausing a process while something is done, through ptrace. It always goes on afterwards, whatever becomes of us:
// the kernel lets go of what a thread traces when that thread ends, also by SIGKILL.
#ifndef WF_SAMPLER_PAUSE_H_
#define WF_SAMPLER_PAUSE_H_

#include <cstdint>
#include <functional>

#include "wf/status.h"

namespace wf::sampler {

// Stops all threads of the process, calls `act` (once, on another thread, while the caller waits), and lets them go on.
// Signals that come for the process meanwhile reach it afterwards. A thread that the kernel holds (state D) is not
// waited for: it does not run Python either.
//
// Not OK when the process could not be paused, with the reason: `act` was not called then. kFailedPrecondition: another
// process traces it, or it is stopped already; kPermissionDenied; kNotFound.
//
// `stopped_ns`, if given: from before its first thread was stopped until all go on.
Status WhilePaused(int32_t pid, const std::function<void()>& act, int64_t* stopped_ns = nullptr);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_PAUSE_H_
