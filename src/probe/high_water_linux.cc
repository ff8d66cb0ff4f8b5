#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "probe/high_water.h"
#include "probe/own_io.h"
#include "probe/proc_text.h"

namespace wf::probe {
namespace {

int64_t MaxRssBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

bool ResetMark(int clear_refs_fd) {
  const ssize_t written = pwrite(clear_refs_fd, "5", 1, 0);
  OwnIo::CountWrite(written);
  return written == 1;
}

void CloseIfOpen(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

}  // namespace

bool HighWaterMark::resettable() {
  Gate gate = gate_.load(std::memory_order_acquire);
  if (gate == Gate::kUnknown) {
    std::lock_guard lock(mutex_);
    return EnsureOpen();
  }
  return gate == Gate::kOpen;
}

bool HighWaterMark::Cut() {
  std::lock_guard lock(mutex_);
  return CutLocked();
}

int64_t HighWaterMark::CutAndPeakSince(int64_t segment) {
  std::lock_guard lock(mutex_);
  if (!CutLocked()) return -1;
  return peaks_.Since(segment).value_or(-1);
}

bool HighWaterMark::EnsureOpen() {
  if (gate_.load(std::memory_order_relaxed) == Gate::kUnknown) {
    clear_refs_fd_ = open(path_, O_WRONLY | O_CLOEXEC);
    const bool works = clear_refs_fd_ >= 0 && ResetMark(clear_refs_fd_);
    if (works) {
      FindInheritedMark();
    } else {
      CloseIfOpen(&clear_refs_fd_);
    }
    segment_start_ns_.store(base::MonotonicNs(), std::memory_order_relaxed);
    gate_.store(works ? Gate::kOpen : Gate::kClosed, std::memory_order_release);
  }
  return gate_.load(std::memory_order_relaxed) == Gate::kOpen;
}

// getrusage tells the mark in a tenth of the time that /proc/self/status takes, but it also remembers the program that
// called exec. Where that hides our own mark, the file is read.
void HighWaterMark::FindInheritedMark() {
  status_fd_ = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const int64_t own = ReadKilobytesField(status_fd_, "VmHWM:");
  const int64_t told = MaxRssBytes();
  constexpr int64_t kSlack = 1 << 20;  // what other threads may have touched between the two
  inherited_mark_ = own >= 0 && told > own + kSlack ? told : 0;
  if (inherited_mark_ == 0) CloseIfOpen(&status_fd_);
}

int64_t HighWaterMark::ReadMark() {
  const int64_t told = MaxRssBytes();
  if (told > inherited_mark_) return told;
  const int64_t own = ReadKilobytesField(status_fd_, "VmHWM:");
  return own >= 0 ? own : told;
}

bool HighWaterMark::CutLocked() {
  if (!EnsureOpen()) return false;
  const int64_t ended = segment_.load(std::memory_order_relaxed);
  peaks_.Add(ended, ReadMark());
  const bool reset = ResetMark(clear_refs_fd_);
  segment_start_ns_.store(base::MonotonicNs(), std::memory_order_relaxed);
  segment_.store(ended + 1, std::memory_order_release);
  if (!reset) gate_.store(Gate::kClosed, std::memory_order_release);  // a sandbox entered meanwhile
  return reset;
}

void HighWaterMark::ResetInChild() {
  const char* path = path_;
  CloseIfOpen(&clear_refs_fd_);
  CloseIfOpen(&status_fd_);
  new (this) HighWaterMark(path);  // the mutex may have been held by a thread that no longer exists
}

}  // namespace wf::probe
