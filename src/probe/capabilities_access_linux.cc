// Probes of what needs leave: hardware counters and the memory of other processes.
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "probe/capability_probes.h"
#include "probe/proc_text.h"
#include "probe/text_file.h"

namespace wf::probe {
namespace {

// Opens a counter of this thread's user-mode work and reads it once. 0, or errno.
int TryCounter(uint32_t type, uint64_t config) {
  perf_event_attr attributes{};
  attributes.type = type;
  attributes.size = sizeof attributes;
  attributes.config = config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const base::Fd fd(static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd.valid()) return errno;
  uint64_t value = 0;
  return read(fd.get(), &value, sizeof value) == sizeof value ? 0 : errno;
}

struct Refusal {
  std::string reason;
  std::string remedy;
};

Refusal ExplainPerfError(int error, std::optional<int64_t> paranoid, const Privileges& privileges) {
  const bool denied = error == EACCES || error == EPERM || error == ENOSYS;
  const bool exempt = privileges.Has(kCapPerfmon) || privileges.Has(kCapSysAdmin);
  if (denied && paranoid && *paranoid > 2 && !exempt) {
    return {fmt::format("kernel.perf_event_paranoid is {}, which refuses counters to ordinary users", *paranoid),
            "sysctl kernel.perf_event_paranoid=2, or give the program CAP_PERFMON"};
  }
  if (denied && privileges.seccomp_filter) {
    return {"the system call perf_event_open is refused by a seccomp filter, as containers have by default",
            "start the container with --cap-add PERFMON and a seccomp profile that allows perf_event_open"};
  }
  if (error == ENOSYS) return {"this kernel has no perf_event_open", "use a kernel with CONFIG_PERF_EVENTS"};
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV) {
    return {"the CPU shows no hardware counters to this system, as in most virtual machines",
            "run on bare metal, or let the hypervisor pass on the performance monitoring unit"};
  }
  return {fmt::format("perf_event_open: {}", std::strerror(error)), ""};
}

void ProbeCounter(const char* id, const char* what, int error, std::optional<int64_t> paranoid,
                  const Privileges& privileges, std::vector<Capability>* found) {
  const std::string evidence = paranoid ? fmt::format("kernel.perf_event_paranoid {}", *paranoid) : "";
  if (error == 0) {
    found->push_back(Available(id, what, evidence));
    return;
  }
  Refusal refusal = ExplainPerfError(error, paranoid, privileges);
  found->push_back(
      Missing(Availability::kNo, id, what, evidence, std::move(refusal.reason), std::move(refusal.remedy)));
}

void ProbeYama(const std::string& root, const Privileges& privileges, std::vector<Capability>* found) {
  const char* id = "ptrace.scope";
  const char* what = "attaching the sampler to processes of the same user";
  const auto scope = ReadNumber(root + "/proc/sys/kernel/yama/ptrace_scope");
  const std::string evidence = scope ? fmt::format("kernel.yama.ptrace_scope {}", *scope) : "no Yama in this kernel";
  if (!scope || *scope == 0 || (*scope < 3 && privileges.Has(kCapSysPtrace))) {
    found->push_back(Available(id, what, evidence));
    return;
  }
  if (*scope == 1) {
    found->push_back(
        Missing(Availability::kPartly, id, what, evidence,
                "kernel.yama.ptrace_scope is 1: only processes that we started, or that name us, can be read",
                "sysctl kernel.yama.ptrace_scope=0, or run as root, to attach to any of your processes"));
    return;
  }
  found->push_back(Missing(Availability::kNo, id, what, evidence,
                           fmt::format("kernel.yama.ptrace_scope is {}: {}", *scope,
                                       *scope == 2 ? "CAP_SYS_PTRACE is needed" : "nobody may attach"),
                           *scope == 2 ? "run as root, or sysctl kernel.yama.ptrace_scope=1"
                                       : "reboot with kernel.yama.ptrace_scope at 2 or less"));
}

void ProbeReadMemory(const Privileges& privileges, std::vector<Capability>* found) {
  const char* id = "ptrace.read_memory";
  const char* what = "reading another process's memory (process_vm_readv)";
  char from = 'x';
  char to = 0;
  const iovec local{&to, 1};
  const iovec remote{&from, 1};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1) {
    found->push_back(Available(id, what, ""));
    return;
  }
  const int error = errno;
  const std::string gate = privileges.seccomp_filter ? "refused by a seccomp filter" : std::strerror(error);
  found->push_back(Missing(Availability::kNo, id, what, "", fmt::format("process_vm_readv: {}", gate),
                           "start the container with --cap-add SYS_PTRACE"));
}

}  // namespace

Privileges ReadPrivileges(const std::string& root) {
  Privileges privileges;
  const std::string status = ReadText(root + "/proc/self/status").value_or("");
  privileges.seccomp_filter = FieldNumber(status, "Seccomp:", 0) == 2;
  for (std::string_view line : Split(status, '\n')) {
    if (!line.starts_with("CapEff:")) continue;
    line.remove_prefix(7);
    const size_t start = std::min(line.find_first_not_of(" \t"), line.size());
    std::from_chars(line.data() + start, line.data() + line.size(), privileges.effective, 16);
  }
  return privileges;
}

void ProbePerfEvents(const std::string& root, const Privileges& privileges, std::vector<Capability>* found) {
  const auto paranoid = ReadNumber(root + "/proc/sys/kernel/perf_event_paranoid");
  const int software = TryCounter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  const int hardware = TryCounter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  ProbeCounter("perf.software", "the kernel's software counters", software, paranoid, privileges, found);
  ProbeCounter("perf.hardware", "hardware counters (instructions, cache misses)", hardware, paranoid, privileges,
               found);
}

void ProbeProcessAccess(const std::string& root, const Privileges& privileges, std::vector<Capability>* found) {
  ProbeYama(root, privileges, found);
  const char* what = "leave to look into every process (CAP_SYS_PTRACE)";
  found->push_back(privileges.Has(kCapSysPtrace)
                       ? Available("ptrace.capability", what, "")
                       : Missing(Availability::kNo, "ptrace.capability", what, "",
                                 "the process has no CAP_SYS_PTRACE; it is not needed for processes of the same user",
                                 "run as root, or start the container with --cap-add SYS_PTRACE"));
  ProbeReadMemory(privileges, found);
}

}  // namespace wf::probe
