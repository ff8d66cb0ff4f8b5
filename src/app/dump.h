// `wf dump`: reads the stacks of a process, and of those below it, once; or those in a core file.
#ifndef WF_APP_DUMP_H_
#define WF_APP_DUMP_H_

#include <cstdint>
#include <string>

#include "report/dump.h"
#include "wf/status.h"

namespace wf::app {

enum class Locals { kNone, kShort, kLong };

struct DumpRequest {
  int32_t pid = 0;
  std::string core;        // a core file, instead of a process; then `subprocesses` and `blocking` say nothing
  std::string executable;  // of the core file, where it is not the one that this names
  bool subprocesses = false;
  bool full_filenames = false;
  // With kShort what looks like a secret is "***"; with kLong it is shown, and longer texts are.
  Locals locals = Locals::kNone;
  bool tasks = false;     // of asyncio, that are not done
  bool source = false;    // the line of each frame
  bool blocking = false;  // pause the process while it is read
  bool native = false;    // frames of C, C++ and Rust too; pauses the process
};

// The errors of sampler::Target::Attach for the process itself. Of its descendants, those that are no Python or cannot
// be read are left out, with a sentence each; with subprocesses the process itself may be one of them as long as
// anything is left. With `core` those of sampler::CoreFile::Open, and kFailedPrecondition when there is no Python in
// it.
Result<report::Dump> DumpStacks(const DumpRequest& request);

}  // namespace wf::app

#endif  // WF_APP_DUMP_H_
