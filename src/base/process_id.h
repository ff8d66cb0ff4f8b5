// ProcessId: names one process for good, so that a pid that was given to somebody else is not taken for it.
//
// A pid alone is reused; pid + start time + boot id is not, within one PID namespace. The namespace is recorded too: a
// process in another container of the same host has a pid that means nothing here, and is then kUnknown.
#ifndef WF_BASE_PROCESS_ID_H_
#define WF_BASE_PROCESS_ID_H_

#include <cstdint>
#include <optional>
#include <string>

namespace wf::base {

struct ProcessId {
  std::string host;
  std::string boot_id;         // empty: this system has none to show
  uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0: unknown
  int32_t pid = 0;
  int64_t start_ticks = 0;  // field 22 of /proc/<pid>/stat

  // Of the calling process, read anew at each call (so right after fork).
  static ProcessId Self();
};

enum class Liveness : uint8_t {
  kAlive,
  kDead,      // it ended (a zombie counts as ended), or its pid belongs to another process by now
  kRebooted,  // this host was restarted since
  kUnknown,   // on another host or in another PID namespace: cannot be told from here
};

// Whether the process that `id` names still runs, seen from this process.
Liveness LivenessOf(const ProcessId& id);

// Start time of a process in clock ticks since boot; nullopt when there is no such process, or it is a zombie.
std::optional<int64_t> StartTicksOf(int32_t pid);

}  // namespace wf::base

#endif  // WF_BASE_PROCESS_ID_H_
