// RunRecord: everything the store knows of one run, from run to usage, as plain values.
//
// What `report`, `diff`, `check` and the exporters read. Samples, calls, allocs, ops and series are not in it: they
// are large and read in chunks from the store.
#ifndef WF_PROFILE_RUN_RECORD_H_
#define WF_PROFILE_RUN_RECORD_H_

#include <vector>

#include "profile/model.h"

namespace wf::profile {

struct RunRecord {
  Run run;
  std::vector<Process> processes;
  std::vector<Task> tasks;        // by id, ascending; tasks[i].id == i + 1
  std::vector<Node> nodes;        // by id, ascending; nodes[i].id == i + 1
  std::vector<Edge> edges;        // by (to, from)
  std::vector<Attempt> attempts;  // by id, ascending
};

}  // namespace wf::profile

#endif  // WF_PROFILE_RUN_RECORD_H_
