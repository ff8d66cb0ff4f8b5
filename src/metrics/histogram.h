// Histogram: how often values fell into each bucket, their number and their sum.
//
// Any thread may call anything at any time. Buckets, count and sum change together, under a lock of one word, so every
// snapshot is a state that existed: cumulative buckets never decrease, +Inf equals the count, the sum belongs to them.
// An observation costs a search over the bounds and one atomic exchange.
//
// One bad value does not spoil the rest: NaN is refused, an infinity is counted in its bucket but left out of the sum.
// In the child of a fork a histogram starts again at 0.
#ifndef WF_METRICS_HISTOGRAM_H_
#define WF_METRICS_HISTOGRAM_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "metrics/buckets.h"
#include "metrics/spin_lock.h"

namespace wf::metrics {

struct HistogramSnapshot {
  std::vector<uint64_t> cumulative;  // one per bound, then +Inf; the last one is the count
  double sum = 0;
  uint64_t count() const { return cumulative.empty() ? 0 : cumulative.back(); }
};

class Histogram {
 public:
  explicit Histogram(Bounds bounds);

  // Counts `value` in the first bucket whose bound is not below it. False, and nothing counted, for NaN.
  bool Observe(double value) noexcept;

  // Adds what another process counted with the same bounds: `counts` per bucket, +Inf last, not cumulative. False, and
  // nothing added, when their number is wrong.
  bool Merge(std::span<const uint64_t> counts, double sum) noexcept;

  HistogramSnapshot Snapshot() const;
  // The same into a snapshot whose memory is reused.
  void SnapshotTo(HistogramSnapshot* out) const;

  const std::vector<double>& bounds() const noexcept { return *bounds_; }
  void ResetAfterFork() noexcept;

 private:
  // Vectors of GCC and Clang, which they map to what the processor has.
  using TwoDoubles [[gnu::vector_size(16)]] = double;
  using TwoCounts [[gnu::vector_size(16)]] = int64_t;
  static constexpr size_t kCounted = 32;  // among so many bounds they are compared with all

  static TwoDoubles LoadTwo(const double* from) noexcept {
    TwoDoubles two;
    std::memcpy(&two, from, sizeof two);
    return two;
  }
  size_t BucketOf(double value) const noexcept;
  bool AddWhenFree(size_t bucket, double addend) noexcept;

  Bounds bounds_;
  const double* first_;  // and size_: those of *bounds_, at hand
  size_t size_;
  std::unique_ptr<uint64_t[]> buckets_;  // one per bound, then +Inf; not cumulative; guarded by lock_
  double sum_ = 0;                       // guarded by lock_
  mutable SpinLock lock_;
};

inline size_t Histogram::BucketOf(double value) const noexcept {
  const double* at = first_;
  size_t left = size_;
  while (left > kCounted) {
    const size_t half = left / 2;
    at += at[half - 1] < value ? half : 0;
    left -= half;
  }
  // What is left is counted, not searched: such comparisons neither wait for each other nor are guessed wrongly.
  auto bucket = static_cast<size_t>(at - first_);
  TwoCounts low = {};
  TwoCounts high = {};
  for (; left >= 4; left -= 4, at += 4) {
    low -= LoadTwo(at) < value;  // true is -1
    high -= LoadTwo(at + 2) < value;
  }
  low += high;
  for (; left > 0; --left, ++at) bucket += *at < value ? 1 : 0;
  return bucket + static_cast<size_t>(low[0] + low[1]);
}

inline bool Histogram::Observe(double value) noexcept {
  if (value != value) return false;
  const size_t bucket = BucketOf(value);
  const double addend = value - value == 0 ? value : 0.0;  // 0 for infinities
  // What may wait is elsewhere: a function without calls has no registers to save.
  if (!lock_.try_lock()) [[unlikely]] {
    return AddWhenFree(bucket, addend);
  }
  ++buckets_[bucket];
  sum_ += addend;
  lock_.unlock();
  return true;
}

}  // namespace wf::metrics

#endif  // WF_METRICS_HISTOGRAM_H_
