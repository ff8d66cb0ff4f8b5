#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <thread>

#include "base/clock.h"
#include "sampler/pause.h"
#include "sampler/proc_files.h"

namespace wf::sampler {
namespace {

constexpr int64_t kPatienceNs = 200'000'000;
constexpr timespec kNap = {0, 50'000};

// All of it on one thread: only the thread that seized may do the rest, and its end frees what it still holds.
class Tracees {
 public:
  explicit Tracees(int32_t pid) : pid_(pid) {}
  Tracees(const Tracees&) = delete;
  Tracees& operator=(const Tracees&) = delete;
  ~Tracees() {
    for (const auto& [tid, tracee] : held_) {
      if (tracee.stopped) ptrace(PTRACE_DETACH, tid, nullptr, tracee.signal);
    }
  }

  // Threads start others until they are stopped: looks again until there is none that is not held.
  Status StopAll() {
    constexpr int kMostRounds = 100;
    for (int round = 0; round < kMostRounds; ++round) {
      bool is_new = false;
      for (const auto& [tid, task] : ReadTasks(pid_)) {
        if (held_.contains(tid) || task.state == 'Z' || task.state == 'X') continue;
        is_new = true;
        WF_RETURN_IF_ERROR(Seize(tid));
      }
      if (!is_new) break;
      WaitForAll();
    }
    if (held_.empty()) return {Code::kNotFound, "not paused: the process ended"};
    return {};
  }

 private:
  struct Tracee {
    bool stopped = false;
    int signal = 0;  // it was stopped on its way to the program, which gets it when it goes on
  };

  Status Seize(int32_t tid) {
    if (ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      if (errno == ESRCH) {
        held_[tid] = {};  // it ended
        return {};
      }
      return {Code::kPermissionDenied, std::string("not paused: ptrace is refused (") + std::strerror(errno) + ")"};
    }
    held_[tid] = {};
    ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    return {};
  }

  void WaitForAll() {
    const int64_t until_ns = base::MonotonicNs() + kPatienceNs;
    bool all = false;
    while (!all) {
      all = true;
      for (auto& [tid, tracee] : held_) all &= tracee.stopped || HasStopped(tid, tracee);
      if (all || base::MonotonicNs() >= until_ns) return;
      nanosleep(&kNap, nullptr);
    }
  }

  // Asks for stops only: the end of a process is for its parent to hear, which may be us.
  static bool HasStopped(int32_t tid, Tracee& tracee) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | WNOHANG | __WALL) != 0) return errno != EINTR;
    if (info.si_pid == 0) return false;
    tracee.stopped = true;
    // Above the signal stands what kind of stop it is; nothing: the signal is on its way to the program.
    if (info.si_status >> 8 == 0) tracee.signal = info.si_status;
    return true;
  }

  const int32_t pid_;
  std::map<int32_t, Tracee> held_;
};

Status CanBePaused(int32_t pid) {
  const auto status = ReadStatus(pid);
  if (!status) return {Code::kNotFound, "not paused: the process ended"};
  if (status->tracer != 0) {
    return {Code::kFailedPrecondition, "not paused, as only one process can trace it"};
  }
  if (status->state == 'T') return {Code::kFailedPrecondition, "not paused, as it does not run"};
  return {};
}

}  // namespace

Status WhilePaused(int32_t pid, const std::function<void()>& act, int64_t* stopped_ns) {
  Status status = CanBePaused(pid);
  if (!status.ok()) return status;
  std::thread tracer([&] {
    const int64_t begin_ns = base::MonotonicNs();
    {
      Tracees tracees(pid);
      status = tracees.StopAll();
      if (status.ok()) act();
    }
    if (stopped_ns != nullptr) *stopped_ns = base::MonotonicNs() - begin_ns;
  });
  tracer.join();
  return status;
}

}  // namespace wf::sampler
