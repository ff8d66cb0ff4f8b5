// The asyncio tasks of a process for `wf dump --async`.
#ifndef WF_APP_DUMP_TASKS_H_
#define WF_APP_DUMP_TASKS_H_

#include <vector>

#include "app/dump_frames.h"
#include "cpython/runtime.h"
#include "report/dump.h"
#include "sampler/target.h"

namespace wf::app {

// Where they were asked for, adds to each thread of `process` the tasks of its event loop, and a sentence where there
// are none or not all. `threads` are those of `process`; what a running task calls is what its thread has above it
// there.
void AddTasks(const cpython::Runtime& runtime, const std::vector<sampler::ThreadSample>& threads, FrameDetails& details,
              report::DumpProcess* process);

}  // namespace wf::app

#endif  // WF_APP_DUMP_TASKS_H_
