// IndexTable: finds where an equal value lies in somebody else's vector, by hash. Twelve bytes a slot, no copy of the
// value: the tables of stacks are what a sampler keeps in memory for the whole of a recording.
#ifndef WF_PROFILE_INDEX_TABLE_H_
#define WF_PROFILE_INDEX_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wf::profile {

// Spreads the bits of a key that may be as regular as 1, 2, 3 (the finaliser of splitmix64).
inline uint64_t MixBits(uint64_t key) {
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
  return key ^ (key >> 31);
}

class IndexTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The index for which `equals(index)` is true among those added with this hash; kNone when there is none.
  template <typename Equals>
  uint32_t Find(uint64_t hash, const Equals& equals) const {
    if (slots_.empty()) return kNone;
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.index == kNone) return kNone;
      if (slot.tag == tag && equals(slot.index)) return slot.index;
    }
  }

  // REQUIRES: Find gave kNone for it.
  void Add(uint64_t hash, uint32_t index) {
    if ((size_ + 1) * 2 > slots_.size()) Grow();
    Place({static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash), index});
    ++size_;
  }

 private:
  struct Slot {
    uint32_t tag = 0;   // upper half of the hash
    uint32_t home = 0;  // lower half, to grow without the values
    uint32_t index = kNone;
  };
  size_t mask() const { return slots_.size() - 1; }
  void Place(Slot slot) {
    size_t at = slot.home & mask();
    while (slots_[at].index != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index != kNone) Place(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t size_ = 0;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_INDEX_TABLE_H_
