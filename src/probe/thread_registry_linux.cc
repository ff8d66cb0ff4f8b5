#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/clock.h"
#include "probe/thread_registry.h"

namespace wf::probe {
namespace {

void CloseAll(const std::array<int, kThreadFiles>& fds) {
  for (const int fd : fds) {
    if (fd >= 0) close(fd);
  }
}

}  // namespace

int ThreadRegistry::Add(ThreadRole role) {
  clockid_t clock = 0;
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return -1;
  std::lock_guard lock(mutex_);
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots_[static_cast<size_t>(i)];
    if (slot.role != ThreadRole::kNone) continue;
    slot = {role, clock, base::ThreadCpuNs(), {-1, -1}};
    used_ = std::max(used_, i + 1);
    attempt_threads_ += role == ThreadRole::kAttempt ? 1 : 0;
    return i;
  }
  overflowed_ = overflowed_ || role == ThreadRole::kAttempt;
  return -1;
}

void ThreadRegistry::Retire(int index) {
  if (index < 0) return;
  std::lock_guard lock(mutex_);
  Slot& slot = slots_[static_cast<size_t>(index)];
  const int64_t used_ns = base::ThreadCpuNs() - slot.base_ns;
  if (slot.role == ThreadRole::kService) retired_service_ns_ += used_ns;
  if (slot.role == ThreadRole::kAttempt) {
    retired_attempts_ns_ += used_ns;
    --attempt_threads_;
  }
  CloseAll(slot.fds);
  slot = Slot{};
  while (used_ > 0 && slots_[static_cast<size_t>(used_ - 1)].role == ThreadRole::kNone) --used_;
}

ThreadRegistry::Sums ThreadRegistry::Read() {
  std::lock_guard lock(mutex_);
  Sums sums{retired_service_ns_, retired_attempts_ns_};
  const bool too_many = overflowed_ || attempt_threads_ > kMostAttemptThreads;
  for (int i = 0; i < used_; ++i) {
    const Slot& slot = slots_[static_cast<size_t>(i)];
    if (slot.role == ThreadRole::kNone || (too_many && slot.role == ThreadRole::kAttempt)) continue;
    timespec time{};
    if (clock_gettime(slot.clock, &time) != 0) continue;
    const int64_t used_ns = int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec - slot.base_ns;
    (slot.role == ThreadRole::kService ? sums.service_ns : sums.attempts_ns) += used_ns;
  }
  if (too_many) sums.attempts_ns = -1;
  return sums;
}

void ThreadRegistry::KeepFd(int slot, ThreadFile file, int fd) {
  std::lock_guard lock(mutex_);
  slots_[static_cast<size_t>(slot)].fds[static_cast<size_t>(file)] = fd;
}

void ThreadRegistry::ResetInChild() {
  for (const Slot& slot : slots_) CloseAll(slot.fds);
  new (this) ThreadRegistry();  // the mutex may have been held by a thread that no longer exists
}

}  // namespace wf::probe
