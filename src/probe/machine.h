// What this machine gives us: CPUs, memory, names. Read from /proc and /sys below a root folder, so that recorded trees
// can be tested; the values come from the kernel and are still parsed with bounds.
#ifndef WF_PROBE_MACHINE_H_
#define WF_PROBE_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace wf::probe {

struct Machine {
  int32_t usable_cpus_milli = 0;              // min(affinity, cgroup quota), in thousandths; at least 1 of them
  int32_t affinity_cpus = 0;                  // CPUs this process may be scheduled on
  int32_t online_cpus = 0;                    // of the host
  std::optional<int32_t> cgroup_quota_milli;  // absent: no quota
  int cgroup_version = 0;                     // 0: none; 1: CPU controller in v1 (also on hybrid hosts); 2: unified
  std::optional<int64_t> memory_limit_bytes;  // lowest of the cgroups above us; absent: no limit
  int64_t total_memory_bytes = 0;
  std::string host;
  std::string boot_id;
};

// `root` is "" for the live system. Affinity and host name are always the live ones.
Machine ReadMachine(const std::string& root = "");

}  // namespace wf::probe

#endif  // WF_PROBE_MACHINE_H_
