// Counter: a sum that only grows.
//
// Any thread may call anything at any time. Whole amounts are added to an integer (one relaxed fetch-add), others to a
// double, so that counting events stays exact up to 2^64. A reader that comes later never sees less.
// Use a Gauge for what can fall. In the child of a fork a counter starts again at 0.
#ifndef WF_METRICS_COUNTER_H_
#define WF_METRICS_COUNTER_H_

#include <atomic>
#include <cmath>
#include <cstdint>

namespace wf::metrics {

class Counter {
 public:
  void Inc() noexcept { whole_.fetch_add(1, std::memory_order_relaxed); }
  void Inc(uint64_t amount) noexcept { whole_.fetch_add(amount, std::memory_order_relaxed); }

  // Adds `amount`. False, and nothing added, when it is negative, NaN or infinite.
  bool Add(double amount) noexcept {
    if (!(amount >= 0) || std::isinf(amount)) return false;
    if (amount < kLargestWhole && amount == static_cast<double>(static_cast<uint64_t>(amount))) {
      Inc(static_cast<uint64_t>(amount));
    } else {
      rest_.fetch_add(amount, std::memory_order_relaxed);
    }
    return true;
  }

  double Value() const noexcept {
    return static_cast<double>(whole_.load(std::memory_order_relaxed)) + rest_.load(std::memory_order_relaxed);
  }

  void ResetAfterFork() noexcept {
    whole_.store(0, std::memory_order_relaxed);
    rest_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr double kLargestWhole = 4503599627370496.0;  // 2^52: far from wrapping the integer in one step

  std::atomic<uint64_t> whole_{0};
  std::atomic<double> rest_{0};
};

}  // namespace wf::metrics

#endif  // WF_METRICS_COUNTER_H_
