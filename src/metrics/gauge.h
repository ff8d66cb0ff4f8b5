// Gauge: a value that goes up and down, or that is not known at present.
//
// Any thread may call anything at any time; every operation is one relaxed atomic. A gauge starts at 0. Clear() takes
// it off the page until the next Set: what is not measured is absent, never 0. NaN and infinities are legal values.
// In the child of a fork a gauge keeps its value.
#ifndef WF_METRICS_GAUGE_H_
#define WF_METRICS_GAUGE_H_

#include <atomic>
#include <bit>
#include <cstdint>

namespace wf::metrics {

class Gauge {
 public:
  void Set(double value) noexcept {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    bits_.store(bits == kAbsent ? kQuietNan : bits, std::memory_order_relaxed);
  }

  // Adds `amount`, which may be negative. An absent gauge counts from 0.
  void Add(double amount) noexcept {
    uint64_t seen = bits_.load(std::memory_order_relaxed);
    for (;;) {
      const double sum = (seen == kAbsent ? 0.0 : std::bit_cast<double>(seen)) + amount;
      const uint64_t next = std::bit_cast<uint64_t>(sum);
      if (bits_.compare_exchange_weak(seen, next == kAbsent ? kQuietNan : next, std::memory_order_relaxed)) return;
    }
  }

  void Clear() noexcept { bits_.store(kAbsent, std::memory_order_relaxed); }
  bool present() const noexcept { return bits_.load(std::memory_order_relaxed) != kAbsent; }
  // NaN when absent.
  double Value() const noexcept { return std::bit_cast<double>(bits_.load(std::memory_order_relaxed)); }

  void ResetAfterFork() noexcept {}

 private:
  static constexpr uint64_t kQuietNan = 0x7ff8000000000000;
  static constexpr uint64_t kAbsent = 0x7ffc5746'00000001;  // a NaN that no arithmetic produces

  std::atomic<uint64_t> bits_{0};
};

}  // namespace wf::metrics

#endif  // WF_METRICS_GAUGE_H_
