// The asyncio tasks of a process for `wf dump --async`.
#ifndef WF_APP_DUMP_TASKS_H_
#define WF_APP_DUMP_TASKS_H_

#include <functional>

#include "cpython/async_tasks.h"
#include "report/dump.h"
#include "sampler/target.h"

namespace wf::app {

// Adds to each thread of `process` (those of `snapshot`, in its order) the tasks of its event loop, and a sentence
// where there are none or not all. What a running task calls is what the thread's stack in `snapshot` has above it.
void AddTasks(cpython::MemoryReader& memory, const cpython::Runtime& runtime, const sampler::Snapshot& snapshot,
              const std::function<report::DumpFrame(const cpython::Frame&)>& frame_of, report::DumpProcess* process);

}  // namespace wf::app

#endif  // WF_APP_DUMP_TASKS_H_
