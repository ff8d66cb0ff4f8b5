// `wf dump --core`: the stacks of a process as a core file has them.
#ifndef WF_APP_DUMP_CORE_H_
#define WF_APP_DUMP_CORE_H_

#include "app/dump.h"
#include "report/dump.h"
#include "wf/status.h"

namespace wf::app {

// REQUIRES: `request.core` is given. The errors of DumpStacks.
Result<report::DumpProcess> DumpCore(const DumpRequest& request);

}  // namespace wf::app

#endif  // WF_APP_DUMP_CORE_H_
