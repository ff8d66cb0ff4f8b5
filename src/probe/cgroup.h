// The limits that control groups set for this process, in both versions: the strictest on the way from our group to the
// highest one that is mounted here.
#ifndef WF_PROBE_CGROUP_H_
#define WF_PROBE_CGROUP_H_

#include <cstdint>
#include <optional>
#include <string>

namespace wf::probe {

struct CgroupLimits {
  int version = 0;                            // 0: none mounted; 1: CPU or memory controller in v1; 2: unified
  std::optional<int32_t> quota_milli;         // CPUs, in thousandths; absent: no quota
  std::optional<int64_t> memory_limit_bytes;  // absent: no limit
  std::string cpu_folder;                     // of our own group, below `root`; empty: not mounted here
  std::string memory_folder;
};

CgroupLimits ReadCgroupLimits(const std::string& root = "");

}  // namespace wf::probe

#endif  // WF_PROBE_CGROUP_H_
