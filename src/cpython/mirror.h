// Mirror: copies of those pieces of a target's memory that one decoding needed, so that the next one starts with all of
// them in a single read.
//
// Decoding chases pointers; from outside each step would be a system call. But a program's stacks and thread states
// hardly move, so what was read for the last sample is what the next one will want. A mirror remembers the pieces (512
// bytes each; a piece never crosses a page, so that a readable byte makes the piece readable), Plan adds them to a
// batch, and what is missing after that is read on demand. A piece that is not wanted for a while is dropped; until
// then a stack may grow and shrink across its border for nothing. A prediction only saves time: no byte of an earlier
// sample is used.
//
// While the same pieces are wanted, nothing is allocated.
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
  static constexpr uint64_t kPage = 4096;

  // Forgets the copies and adds what the last decodings used to `batch`. Neighbours become one segment.
  void Plan(std::vector<Segment>* batch);
  // The mirror that will read the same pieces as `other`, planned and used: for a second copy.
  void PlanLike(const Mirror& other, std::vector<Segment>* batch);
  // Call once the batch was read, with the segments that this mirror's Plan added first. REQUIRES: in its order.
  void Accept(std::span<const Segment> planned);

  // A copy of `bytes` (at most a page) at `address`. Reads what is missing. Empty when it cannot be read. Valid until
  // the next call.
  std::span<const std::byte> Find(MemoryReader& memory, uint64_t address, size_t bytes);

  // All that was copied around it without a break, from the address `begin` on, and valid until the next Plan. Where it
  // has to be read, with `lead` also what lies before it in its page: a stack's older frames. Counts as no use.
  std::span<const std::byte> FindArea(MemoryReader& memory, uint64_t address, size_t bytes, bool lead, uint64_t* begin);
  // Counts as used, so that the next Plan reads it. REQUIRES: it was found, as a whole.
  void Use(uint64_t address, size_t bytes);
  // The same of what was not looked for, and may not have been planned.
  void Want(uint64_t address, size_t bytes);

  // What of it was in the plan; empty when it was not. Counts as no use.
  std::span<const std::byte> Copied(uint64_t address, size_t bytes) const;

  template <typename T>
  std::optional<T> Get(MemoryReader& memory, uint64_t address) {
    const auto bytes = Find(memory, address, sizeof(T));
    if (bytes.empty()) return std::nullopt;
    return FieldAt<T>(bytes, 0);
  }

  // Whether anything had to be read on demand since the last Plan.
  bool has_read_more() const { return !extra_.empty(); }
  size_t planned_segments() const { return runs_.size(); }
  // Of copies.
  size_t held_bytes() const { return copy_.size() + extra_bytes_; }

 private:
  static constexpr uint64_t kPiece = 512;
  static constexpr size_t kMostPieces = 1 << 14;  // 8 MiB
  static constexpr uint8_t kKept = 32;            // Plans that a piece outlives its last use

  // Neighbouring pieces with one copy.
  struct Run {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t first = 0;  // index of its first piece in pieces_, and 512th of its place in copy_
    bool ok = false;
    bool Holds(uint64_t address, size_t bytes) const { return ok && address >= begin && address + bytes <= end; }
  };
  struct Extra {
    uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  void Replan();
  void Lay();
  void AddTo(std::vector<Segment>* batch);
  const Run* RunOf(uint64_t address, size_t bytes);
  const Extra* FindElsewhere(MemoryReader& memory, uint64_t address, size_t bytes, bool lead);

  std::vector<uint64_t> pieces_;  // planned ones, sorted
  std::vector<uint8_t> ages_;     // of each, in Plans since it was last used
  std::vector<Run> runs_;         // what they make
  std::vector<std::byte> copy_;
  size_t last_run_ = 0;           // where the last thing was found: the next one mostly lies there too
  std::vector<Extra> extra_;      // read on demand
  size_t extra_bytes_ = 0;        // in them
  std::vector<uint64_t> missed_;  // pieces used that were not planned
};

// A memory for decoders that chase pointers and are run again and again: each round starts with what the rounds before
// read, in one batch. `memory` must outlive it.
class PlannedReader final : public MemoryReader {
 public:
  explicit PlannedReader(MemoryReader& memory) : memory_(memory) {}

  // From here on all is read anew.
  void Begin();
  void Read(std::span<Segment> segments) override;

 private:
  MemoryReader& memory_;
  Mirror mirror_;
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_MIRROR_H_
