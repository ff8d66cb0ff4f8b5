// SpinLock: a one-word lock for critical sections of a few nanoseconds (one histogram observation, one snapshot).
//
// Uncontended it costs one atomic exchange and one store, less than the two read-modify-writes that a lock-free
// histogram needs, and makes count, sum and buckets one consistent unit. A waiter yields the CPU after a short spin, so
// that a holder that lost its time slice gets it back. Not fair, not recursive; never held across a call that may
// block. Meets Lockable: use with std::lock_guard.
#ifndef WF_METRICS_SPIN_LOCK_H_
#define WF_METRICS_SPIN_LOCK_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace wf::metrics {

class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(1, std::memory_order_acquire) != 0) WaitForRelease();
  }
  bool try_lock() noexcept { return held_.exchange(1, std::memory_order_acquire) == 0; }
  void unlock() noexcept { held_.store(0, std::memory_order_release); }
  // In the child of a fork only, where the holder may be a thread that does not exist any more.
  void ResetAfterFork() noexcept { held_.store(0, std::memory_order_relaxed); }

 private:
  void WaitForRelease() const noexcept {
    for (int spin = 0; held_.load(std::memory_order_relaxed) != 0; ++spin) {
      if (spin >= 64) std::this_thread::yield();
    }
  }

  std::atomic<uint32_t> held_{0};
};

}  // namespace wf::metrics

#endif  // WF_METRICS_SPIN_LOCK_H_
