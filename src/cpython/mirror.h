// Mirror: copies of those pieces of a target's memory that one decoding needed, so that the next one starts with all of
// them in a single read.
//
// Decoding chases pointers; from outside each step would be a system call. But a program's stacks and thread states
// hardly move, so what was read for the last sample is what the next one will want. A mirror remembers the pieces (512
// bytes each; a piece never crosses a page, so that a readable byte makes the piece readable), Plan adds them to a
// batch, and what is missing after that is read on demand. A prediction only saves time: no byte of an earlier sample
// is used.
#ifndef WF_CPYTHON_MIRROR_H_
#define WF_CPYTHON_MIRROR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpython/memory_reader.h"

namespace wf::cpython {

class Mirror {
 public:
  // Forgets the copies and adds what the last decoding used to `batch`. Neighbours become one segment.
  void Plan(std::vector<Segment>* batch);
  // The mirror that will read the same pieces as `other` used: for a second copy.
  void PlanLike(const Mirror& other, std::vector<Segment>* batch);
  // Counts as used, so that the next Plan reads it.
  void Want(uint64_t address, size_t bytes) { Use(address, bytes); }
  // Call once the batch was read, with the segments that this mirror's Plan added. REQUIRES: they are in its order.
  void Accept(std::span<const Segment> planned);

  // A copy of `bytes` (at most a page) at `address`. Reads what is missing, and with `lead` also what lies before it in
  // its page: a stack's older frames. Empty when it cannot be read. Valid until the next call.
  std::span<const std::byte> Find(MemoryReader& memory, uint64_t address, size_t bytes, bool lead = false);

  template <typename T>
  std::optional<T> Get(MemoryReader& memory, uint64_t address) {
    const auto bytes = Find(memory, address, sizeof(T));
    if (bytes.empty()) return std::nullopt;
    return FieldAt<T>(bytes, 0);
  }

  size_t planned_segments() const { return runs_.size(); }

 private:
  static constexpr uint64_t kPiece = 512;
  static constexpr uint64_t kPage = 4096;
  static constexpr size_t kMostPieces = 1 << 14;  // 8 MiB

  // Neighbouring pieces with one buffer.
  struct Run {
    uint64_t begin = 0;
    std::vector<std::byte> bytes;
    bool ok = false;
    uint64_t end() const { return begin + bytes.size(); }
  };

  void Lay(const std::vector<uint64_t>& pieces, std::vector<Segment>* batch);
  const Run* RunOf(uint64_t address, size_t bytes) const;
  void Use(uint64_t address, size_t bytes);
  std::vector<uint64_t> TakeUsed();

  std::vector<Run> runs_;       // sorted; planned ones
  std::vector<Run> extra_;      // read on demand
  std::vector<uint64_t> used_;  // pieces that this decoding touched
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_MIRROR_H_
