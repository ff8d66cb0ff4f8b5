// HighWaterMark: the peak of this process's resident memory within any stretch of time, from the kernel's own mark.
//
// The kernel keeps one mark per process, which we may reset ("5" into /proc/self/clear_refs). Cut reads the mark and
// resets it, so that it cuts time into segments with a peak each; an attempt's peak is the highest of the segments it
// spans. So one attempt's cut never erases the spike of another that is still open, and a spike of a microsecond counts
// as much as one that lasts.
//
// Thread-safe. Holds a lock for two system calls. No allocation.
#ifndef WF_PROBE_HIGH_WATER_H_
#define WF_PROBE_HIGH_WATER_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "probe/falling_maxima.h"

namespace wf::probe {

class HighWaterMark {
 public:
  constexpr explicit HighWaterMark(const char* clear_refs_path = "/proc/self/clear_refs") : path_(clear_refs_path) {}
  HighWaterMark(const HighWaterMark&) = delete;
  HighWaterMark& operator=(const HighWaterMark&) = delete;

  // The segment that now grows.
  int64_t segment() const { return segment_.load(std::memory_order_acquire); }
  // CLOCK_MONOTONIC of its begin; 0 before the first cut.
  int64_t segment_start_ns() const { return segment_start_ns_.load(std::memory_order_relaxed); }

  // Ends the segment that grows and begins the next. False, and nothing happens, when the mark cannot be reset here.
  bool Cut();
  // The same; then the peak of all segments from `segment` to the one that was just ended. -1 when the mark cannot be
  // reset here.
  int64_t CutAndPeakSince(int64_t segment);
  // Whether the mark can be reset. Tries it once.
  bool resettable();

  // In a forked child, whose other threads are gone: forgets all and closes what it inherited.
  void ResetInChild();

 private:
  enum class Gate : uint8_t { kUnknown, kOpen, kClosed };

  bool EnsureOpen();   // REQUIRES: mutex_ held
  bool CutLocked();    // likewise
  int64_t ReadMark();  // likewise
  void FindInheritedMark();

  const char* path_;
  std::mutex mutex_;
  std::atomic<int64_t> segment_{0};
  std::atomic<int64_t> segment_start_ns_{0};
  std::atomic<Gate> gate_{Gate::kUnknown};
  int clear_refs_fd_ = -1;
  int status_fd_ = -1;
  int64_t inherited_mark_ = 0;  // ru_maxrss never falls below it: the peak of the program before our exec
  FallingMaxima peaks_;
};

}  // namespace wf::probe

#endif  // WF_PROBE_HIGH_WATER_H_
