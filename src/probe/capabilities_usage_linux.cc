// Probes of what the readings of every attempt rest on: clocks, CPUs, memory, I/O.
#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "probe/capability_probes.h"
#include "probe/cgroup.h"
#include "probe/machine.h"
#include "probe/proc_text.h"
#include "probe/readings.h"
#include "probe/text_file.h"

namespace wf::probe {
namespace {

// Nanoseconds of one call: the best of a few rounds, since a round may be interrupted.
template <typename F>
int64_t CostNs(int calls, const F& call) {
  int64_t best = INT64_MAX;
  for (int round = 0; round < 5; ++round) {
    const int64_t start = base::MonotonicNs();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, (base::MonotonicNs() - start) / calls);
  }
  return best;
}

std::string Cpus(int64_t milli) { return fmt::format("{}.{:02} CPUs", milli / 1000, milli % 1000 / 10); }
std::string MiB(int64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

void ProbeClockSource(const std::string& root, std::vector<Capability>* found) {
  const char* id = "clock.source";
  const char* what = "clock read without a system call";
  const auto source = ReadText(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source) {
    found->push_back(Missing(Availability::kPartly, id, what, "", "the kernel does not tell its clock source", ""));
    return;
  }
  for (const char* fast : {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}) {
    if (*source != fast) continue;
    found->push_back(Available(id, what, *source));
    return;
  }
  found->push_back(
      Missing(Availability::kPartly, id, what, *source,
              fmt::format("the clock source is {}: each reading is a system call of about a microsecond", *source),
              "boot with clocksource=tsc if the CPU's time stamp counter is stable"));
}

// One file that must be readable; what to call it and why it may not be.
void ProbeFile(const std::string& path, const char* id, const char* what, const char* must_have, const char* remedy,
               std::vector<Capability>* found) {
  int error = 0;
  const auto text = ReadText(path, &error);
  if (text && FieldNumber(*text, must_have, -1) >= 0) {
    found->push_back(Available(id, what, path));
    return;
  }
  const std::string why = text ? fmt::format("it has no line {}", must_have) : std::strerror(error);
  found->push_back(Missing(Availability::kNo, id, what, "", fmt::format("{} cannot be used: {}", path, why), remedy));
}

}  // namespace

void ProbeClocks(const std::string& root, std::vector<Capability>* found) {
  ProbeClockSource(root, found);
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 && clock_getres(CLOCK_THREAD_CPUTIME_ID, &time) == 0) {
    const bool fine = time.tv_sec == 0 && time.tv_nsec <= 1000;
    const std::string evidence = fmt::format("resolution {} ns", time.tv_nsec);
    found->push_back(fine
                         ? Available("cpu.thread_clock", "CPU time per thread", evidence)
                         : Missing(Availability::kPartly, "cpu.thread_clock", "CPU time per thread", evidence,
                                   "the kernel counts CPU time in ticks", "boot a kernel with high-resolution timers"));
  } else {
    found->push_back(Missing(Availability::kNo, "cpu.thread_clock", "CPU time per thread", "",
                             fmt::format("clock_gettime(CLOCK_THREAD_CPUTIME_ID): {}", std::strerror(errno)),
                             "allow clock_gettime in the system call filter of the sandbox"));
  }
  const int64_t monotonic = CostNs(200, [] { static_cast<void>(base::MonotonicNs()); });
  const int64_t thread_cpu = CostNs(200, [] { static_cast<void>(base::ThreadCpuNs()); });
  const int64_t full = CostNs(20, [] { static_cast<void>(FullReading::Now()); });
  const std::string costs =
      fmt::format("wall clock {} ns, thread CPU clock {} ns, full reading {} ns", monotonic, thread_cpu, full);
  found->push_back(Available("clock.cost", "cost of the readings around an attempt", costs));
}

void ProbeCpus(const std::string& root, std::vector<Capability>* found) {
  const Machine machine = ReadMachine(root);
  found->push_back(Available("cpu.affinity", "CPUs this process may run on",
                             fmt::format("{} of {}", machine.affinity_cpus, machine.online_cpus)));
  const std::string version = machine.cgroup_version == 0 ? "" : fmt::format("version {}", machine.cgroup_version);
  found->push_back(version.empty() ? Missing(Availability::kNo, "cgroup.version", "control groups", "",
                                             "no CPU or memory control group is mounted here",
                                             "mount /sys/fs/cgroup into the container to have its limits known")
                                   : Available("cgroup.version", "control groups", version));
  const std::string quota = machine.cgroup_quota_milli ? Cpus(*machine.cgroup_quota_milli) : "none set";
  found->push_back(version.empty()
                       ? Missing(Availability::kNo, "cpu.quota", "CPU quota of the control group", "",
                                 "no control group is mounted here", "mount /sys/fs/cgroup into the container")
                       : Available("cpu.quota", "CPU quota of the control group", quota));
  found->push_back(
      Available("cpu.usable", "usable CPUs: the lower of affinity and quota", Cpus(machine.usable_cpus_milli)));
}

void ProbeMemory(const std::string& root, std::vector<Capability>* found) {
  const Machine machine = ReadMachine(root);
  found->push_back(Available("memory.limit", "memory limit of the control group",
                             machine.memory_limit_bytes
                                 ? MiB(*machine.memory_limit_bytes)
                                 : "none set; the machine has " + MiB(machine.total_memory_bytes)));
  const std::string path = root + "/proc/self/clear_refs";
  const base::Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const bool works = fd.valid() && pwrite(fd.get(), "5", 1, 0) == 1;
  const char* what = "peak memory of each attempt (the kernel's mark can be reset)";
  if (works) {
    found->push_back(Available("memory.peak_reset", what, path));
    return;
  }
  found->push_back(Missing(
      Availability::kPartly, "memory.peak_reset", what, "",
      fmt::format("{} cannot be written: {}; peaks below an earlier one are estimated", path, std::strerror(errno)),
      "let /proc be mounted writable, with a kernel that has CONFIG_PROC_PAGE_MONITOR"));
}

void ProbeIo(const std::string& root, std::vector<Capability>* found) {
  const char* remedy = "use a kernel with CONFIG_TASK_IO_ACCOUNTING, and do not make the process undumpable";
  ProbeFile(root + "/proc/self/io", "io.process", "bytes read and written by the process", "rchar:", remedy, found);
  ProbeFile(root + "/proc/thread-self/io", "io.thread", "bytes read and written by each thread", "rchar:", remedy,
            found);
}

}  // namespace wf::probe
