// FallingMaxima answers "what was the highest value since position p?" for positions that only grow, in constant
// memory.
//
// It keeps the values that no later value reaches: positions rise and values fall strictly from the oldest entry to the
// newest, so the first entry at or after p is the answer. When the table is full, neighbours in its older half are
// merged into the higher value at the later position: an answer may then be too high by the distance of two neighbours,
// never too low.
//
// Not thread-safe. No allocation: usable in a forked child.
#ifndef WF_PROBE_FALLING_MAXIMA_H_
#define WF_PROBE_FALLING_MAXIMA_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace wf::probe {

class FallingMaxima {
 public:
  static constexpr size_t kCapacity = 512;

  constexpr FallingMaxima() = default;

  // REQUIRES: `position` is not lower than any before it.
  void Add(int64_t position, int64_t value) {
    while (size_ > 0 && entries_[size_ - 1].value <= value) --size_;
    if (size_ == kCapacity) MergeOlderHalf();
    entries_[size_++] = {position, value};
  }

  // The highest value added at a position >= `position`; nullopt when there is none.
  std::optional<int64_t> Since(int64_t position) const {
    const auto* end = entries_.data() + size_;
    const auto* found =
        std::partition_point(entries_.data(), end, [&](const Entry& e) { return e.position < position; });
    if (found == end) return std::nullopt;
    return found->value;
  }

  size_t size() const { return size_; }

 private:
  struct Entry {
    int64_t position = 0;
    int64_t value = 0;
  };

  void MergeOlderHalf() {
    size_t kept = 0;
    for (size_t i = 0; i < kCapacity / 2; i += 2) entries_[kept++] = {entries_[i + 1].position, entries_[i].value};
    for (size_t i = kCapacity / 2; i < kCapacity; ++i) entries_[kept++] = entries_[i];
    size_ = kept;
  }

  std::array<Entry, kCapacity> entries_{};
  size_t size_ = 0;
};

}  // namespace wf::probe

#endif  // WF_PROBE_FALLING_MAXIMA_H_
