#include "metrics/histogram.h"

#include <algorithm>

#include "base/check.h"

namespace wf::metrics {

Histogram::Histogram(Bounds bounds) : bounds_(std::move(bounds)) {
  WF_CHECK(bounds_ != nullptr && !bounds_->empty());
  first_ = bounds_->data();
  size_ = bounds_->size();
  buckets_ = std::make_unique<uint64_t[]>(bounds_->size() + 1);
}

bool Histogram::AddWhenFree(size_t bucket, double addend) noexcept {
  const std::lock_guard<SpinLock> guard(lock_);
  ++buckets_[bucket];
  sum_ += addend;
  return true;
}

bool Histogram::Merge(std::span<const uint64_t> counts, double sum) noexcept {
  if (counts.size() != bounds_->size() + 1) return false;
  const std::lock_guard<SpinLock> guard(lock_);
  for (size_t i = 0; i < counts.size(); ++i) buckets_[i] += counts[i];
  sum_ += sum;
  return true;
}

HistogramSnapshot Histogram::Snapshot() const {
  HistogramSnapshot snapshot;
  SnapshotTo(&snapshot);
  return snapshot;
}

void Histogram::SnapshotTo(HistogramSnapshot* out) const {
  const size_t size = bounds_->size() + 1;
  out->cumulative.resize(size);  // before the lock: nothing allocates under it
  {
    const std::lock_guard<SpinLock> guard(lock_);
    std::copy_n(buckets_.get(), size, out->cumulative.data());
    out->sum = sum_;
  }
  for (size_t i = 1; i < size; ++i) out->cumulative[i] += out->cumulative[i - 1];
}

void Histogram::ResetAfterFork() noexcept {
  lock_.ResetAfterFork();
  std::fill_n(buckets_.get(), bounds_->size() + 1, uint64_t{0});
  sum_ = 0;
}

}  // namespace wf::metrics
