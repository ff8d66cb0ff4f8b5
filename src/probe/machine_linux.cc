#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "probe/cgroup.h"
#include "probe/machine.h"
#include "probe/proc_text.h"
#include "probe/text_file.h"

namespace wf::probe {
namespace {

// Of the main thread; 0 when the system does not tell.
int32_t AffinityCpus() {
  for (int cpus = 1024; cpus <= 1 << 16; cpus *= 2) {  // the kernel refuses a set smaller than its own
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpus));
    if (set == nullptr) return 0;
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    const bool done = sched_getaffinity(getpid(), size, set) == 0;
    const int count = done ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (done) return count;
  }
  return 0;
}

}  // namespace

Machine ReadMachine(const std::string& root) {
  Machine machine;
  machine.online_cpus = static_cast<int32_t>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
  machine.affinity_cpus = AffinityCpus();
  if (machine.affinity_cpus <= 0) machine.affinity_cpus = machine.online_cpus;
  const CgroupLimits limits = ReadCgroupLimits(root);
  machine.cgroup_version = limits.version;
  machine.cgroup_quota_milli = limits.quota_milli;
  machine.memory_limit_bytes = limits.memory_limit_bytes;
  machine.usable_cpus_milli = std::min(machine.affinity_cpus * 1000, limits.quota_milli.value_or(INT32_MAX));
  const std::string meminfo = ReadText(root + "/proc/meminfo").value_or("");
  const int64_t kilobytes = FieldNumber(meminfo, "MemTotal:", 0);
  machine.total_memory_bytes = kilobytes > INT64_MAX / 1024 ? 0 : kilobytes * 1024;
  utsname name{};
  if (uname(&name) == 0) machine.host = name.nodename;
  machine.boot_id = ReadText(root + "/proc/sys/kernel/random/boot_id").value_or("");
  return machine;
}

}  // namespace wf::probe
