// Pids as other PID namespaces see them: a driver names processes by the initial namespace's pids.
#ifndef WF_PROBE_PID_NAMESPACE_H_
#define WF_PROBE_PID_NAMESPACE_H_

#include <cstdint>
#include <set>
#include <string>

namespace wf::probe {

// Whether this process lives in the machine's initial PID namespace. False when it cannot be told.
bool InInitialPidNamespace(const std::string& root = "");

// `pids` and the pids of the same processes in other namespaces, as far as /proc/<pid>/status (NSpid) shows them: those
// between the namespace of the mounted /proc and the process's own.
std::set<int32_t> WithOuterPids(const std::set<int32_t>& pids, const std::string& root = "");

}  // namespace wf::probe

#endif  // WF_PROBE_PID_NAMESPACE_H_
