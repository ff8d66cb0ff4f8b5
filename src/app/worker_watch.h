// The process_* families of this process's page, and the worker processes among them.
//
// The label `worker` is the smallest number that no living worker of this process has: two runs at once keep apart, and
// the replacement of a worker that died goes on where that one ended. Looking costs nothing but at a scrape; each call
// here reads /proc once or twice. Thread-safe. Where the process has families of these names already (a collector of
// the user's), workers go unseen.
#ifndef WF_APP_WORKER_WATCH_H_
#define WF_APP_WORKER_WATCH_H_

#include <cstdint>

#include "wf/status.h"

namespace wf::app {

// Puts the families on the page, once.
Status ShowProcesses();

// A worker process was started. Its CPU stays counted for ever.
void WatchWorker(int32_t pid);
// It ended, or is about to be waited for: before that its last CPU seconds can still be read.
void UnwatchWorker(int32_t pid);

// The label of a worker that is watched; -1: none has this pid.
int WorkerNumber(int32_t pid);

}  // namespace wf::app

#endif  // WF_APP_WORKER_WATCH_H_
