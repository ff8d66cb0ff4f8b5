// ProcessRow: how a process of this host stands in the store, with the anchor that ties its clock to wall time.
#ifndef WF_APP_PROCESS_ROW_H_
#define WF_APP_PROCESS_ROW_H_

#include <cstdint>
#include <string>

#include "profile/model.h"

namespace wf::app {

// `id` is the number that the run gives it, 1 for its owner. A process that has ended has 0 for its start. Any thread.
profile::Process ProcessRow(uint32_t id, int32_t pid, std::string name);

}  // namespace wf::app

#endif  // WF_APP_PROCESS_ROW_H_
