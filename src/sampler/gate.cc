#include "sampler/gate.h"

namespace wf::sampler {
namespace {

std::string Subject(int32_t pid, const std::string& name) {
  return "process " + std::to_string(pid) + (name.empty() ? "" : " (" + name + ")");
}

// What gives the right, in the words of where we run. Root is not told to become root.
std::string GiveRight(const GateFacts& facts) {
  if (facts.container || facts.our_uid == 0) {
    return "give this process CAP_SYS_PTRACE (Docker: --cap-add SYS_PTRACE; Kubernetes: securityContext, capabilities, "
           "add: [SYS_PTRACE])";
  }
  return "run wf with sudo";
}

}  // namespace

Status CheckProcess(int32_t pid, const std::optional<ProcessStatus>& status) {
  if (!status) {
    return {Code::kNotFound,
            "there is no process " + std::to_string(pid) + " (in this PID namespace); ps -e lists those there are"};
  }
  if (status->state == 'Z' || status->state == 'X') {
    return {Code::kFailedPrecondition, Subject(pid, status->name) +
                                           " has ended and only waits for its parent to ask for its status (a zombie): "
                                           "nothing is left to read; look at its parent"};
  }
  if (status->kernel_thread) {
    return {Code::kFailedPrecondition,
            Subject(pid, status->name) + " is a thread of the kernel and runs no Python; give the pid of a program"};
  }
  return {};
}

Status Refusal(int32_t pid, const GateFacts& facts) {
  const std::string start = Subject(pid, facts.target.name) + " cannot be read: ";
  std::string why;
  if (!facts.can_read_itself) {
    why =
        "a seccomp filter on wf itself forbids process_vm_readv; start the container with --cap-add SYS_PTRACE or "
        "--security-opt seccomp=unconfined";
  } else if (facts.has_ptrace_right) {
    why =
        "the kernel refuses although wf has CAP_SYS_PTRACE, so the process lies in an outer user namespace or a "
        "security "
        "module (AppArmor, SELinux) forbids it; run wf in the same container or pod as the process, or on the host";
  } else if (facts.target.uid != facts.our_uid) {
    why = "it belongs to user id " + std::to_string(facts.target.uid) + " and wf runs as " +
          std::to_string(facts.our_uid) + "; run wf as that user, or " + GiveRight(facts);
  } else if (facts.yama >= 3) {
    why =
        "kernel.yama.ptrace_scope is 3, which forbids it to everybody until the next boot; set it to 1 or 0 in "
        "/etc/sysctl.d and restart the machine";
  } else if (!facts.dumpable) {
    why =
        "it has made itself non-dumpable (prctl PR_SET_DUMPABLE, or a set-uid program), which only CAP_SYS_PTRACE "
        "overrides; " +
        GiveRight(facts);
  } else if ((facts.target.permitted & ~facts.our_capabilities) != 0) {
    why = "it has capabilities that wf lacks; " + GiveRight(facts);
  } else if (facts.yama == 2) {
    why = "kernel.yama.ptrace_scope is 2, which allows it only with CAP_SYS_PTRACE; " + GiveRight(facts);
  } else if (facts.yama == 1) {
    why = "kernel.yama.ptrace_scope is 1, which allows it only for programs that wf starts itself; " +
          GiveRight(facts) + ", or set sysctl kernel.yama.ptrace_scope=0";
  } else {
    why =
        "the kernel refuses, and none of the usual gates (user, Yama, capabilities, seccomp) explains it; a security "
        "module may forbid it: " +
        GiveRight(facts);
  }
  return {Code::kPermissionDenied, start + why};
}

Status NotSupported(const std::string& subject, const cpython::FoundRuntime& found) {
  using cpython::FindOutcome;
  const std::string version = found.runtime.version.empty() ? "" : " " + found.runtime.version;
  const std::string start = subject + " runs Python" + version;
  if (found.outcome == FindOutcome::kTooOld) {
    return {Code::kFailedPrecondition, start + ", which is older than 3.8, the oldest that wf reads"};
  }
  if (found.outcome == FindOutcome::kUnknownVersion) {
    return {Code::kFailedPrecondition, start + " (" + found.runtime.path +
                                           "), which this wf does not know: it reads 3.8 to 3." +
                                           std::to_string(cpython::kNewestMinor) + "; a newer wf may"};
  }
  return {
      Code::kFailedPrecondition,
      start + " (" + found.runtime.path + ")" +
          (found.runtime.free_threaded ? ", a free-threaded build; wf reads builds with a GIL"
                                       : ", built with options that change its structs (such as --with-trace-refs); "
                                         "wf reads the usual builds")};
}

Status NotReadable(int32_t pid, const std::string& name, const cpython::FoundRuntime& found) {
  using cpython::FindOutcome;
  const std::string subject = Subject(pid, name);
  switch (found.outcome) {
    case FindOutcome::kNotInitialised:
      return {Code::kFailedPrecondition,
              subject + " has loaded Python" + (found.runtime.version.empty() ? "" : " " + found.runtime.version) +
                  " (" + found.runtime.path +
                  ") but not initialised it yet, or has finalised it; try again in a moment"};
    case FindOutcome::kTooOld:
    case FindOutcome::kUnknownVersion:
    case FindOutcome::kUnknownLayout: return NotSupported(subject, found);
    default:
      return {Code::kFailedPrecondition,
              subject +
                  " is no Python process, or has not loaded Python yet: none of its libraries holds an interpreter; "
                  "check the pid, or use -s for the Python processes below it"};
  }
}

}  // namespace wf::sampler
