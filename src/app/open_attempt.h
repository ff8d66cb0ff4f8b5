// OpenAttempt: an attempt that runs right now. Owned by whoever executes it, from BeginAttempt to EndAttempt; at a
// fixed address meanwhile, because the session and the current thread point to it.
#ifndef WF_APP_OPEN_ATTEMPT_H_
#define WF_APP_OPEN_ATTEMPT_H_

#include <cstdint>

#include "probe/attempt_meter.h"

namespace wf::app {

struct OpenAttempt {
  uint32_t node = 0;
  uint32_t number = 0;  // of the node, from 1
  uint64_t id = 0;      // of the run, from 1
  uint32_t task = 0;
  int32_t worker = -1;
  int32_t tid = 0;
  int64_t start_ns = 0;
  uint32_t slot = 0;       // in the session's list of open attempts
  int32_t worker_pid = 0;  // 0: it runs in this process
  bool sampled = false;
  bool on_gpu_page = false;  // GpuTaskStarted was called
  bool measured = true;      // false: mode off
  bool cpu = true;           // false: without the CPU time
  probe::AttemptMeter meter;
};

}  // namespace wf::app

#endif  // WF_APP_OPEN_ATTEMPT_H_
