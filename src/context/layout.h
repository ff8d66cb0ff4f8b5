// Layout of the page that says, for each thread of a process, which attempt it works for. Written by the process itself
// (thread_slot.h), read from outside by the sampler (page_reader.h). Both ends are on one machine: native byte order.
//
//   offset    size
//   0         8     "WFCTXPG1"
//   8         4     version, 3
//   12        4     bytes of this header, 64
//   16        4     pid of the writer, as it sees itself
//   20        4     generation: 0, and one more after each fork
//   24        8     start time of the writer in clock ticks since boot (field 22 of /proc/<pid>/stat); 0 after a fork
//   32        4     number of slots
//   36        4     bytes of a slot, 64
//   40        4     slots that were ever used: those behind hold zeros and need not be read
//   44        4     threads that found no free slot and so are not on the page
//   48        4     names that were ever begun; those behind hold zeros
//   52        12    zeros
//   64        64*n  the slots
//   64+64*n   256*m names of tasks
//
// A slot (a cache line):
//   0         4     sequence: odd while the slot is being written; goes up by two with each write
//   4         4     tid; 0: the slot is free
//   8         16    run id; zeros: the thread works for no attempt
//   24        8     attempt
//   32        8     node
//   40        8     task
//   48        8     flags: bit 0, the costly probes look at this attempt (stacks, allocations); bits 32 to 63, which of
//                   the names is that of the task, from 1; 0: none. The others are 0
//   56        8     check: CheckOf the words above; a copy made during a write does not fit it
//
// A name (written once, before a slot points to it; never changed):
//   0         4     its bytes; 0: free; 2^32-1: being written
//   4         252   UTF-8, cut off where it is longer
//
// A reader takes one copy of the page while the process runs on. A torn slot shows by an odd sequence or a wrong check;
// the reader then does not know where that thread is, which is better than to name a wrong attempt.
#ifndef WF_CONTEXT_LAYOUT_H_
#define WF_CONTEXT_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wf::context {

inline constexpr char kPageName[] = "wf-context";  // of the memfd: "/memfd:wf-context (deleted)" in /proc/<pid>/maps
inline constexpr uint64_t kMagic = 0x3147505854434657;  // "WFCTXPG1", little-endian
inline constexpr uint32_t kVersion = 3;
inline constexpr uint32_t kSlotCount = 4095;  // with the header 256 KiB; only what is used takes memory
inline constexpr uint32_t kNameCount = 1024;  // different names; those that come later are not told

struct PageHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  int32_t pid;
  uint32_t generation;
  int64_t start_ticks;
  uint32_t slot_count;
  uint32_t slot_bytes;
  std::atomic<uint32_t> used_slots;
  std::atomic<uint32_t> overflowed;
  std::atomic<uint32_t> used_names;
  uint32_t reserved[3];
};

struct alignas(64) Slot {
  std::atomic<uint32_t> sequence;
  std::atomic<int32_t> tid;
  std::atomic<uint64_t> run[2];
  std::atomic<uint64_t> attempt;
  std::atomic<uint64_t> node;
  std::atomic<uint64_t> task;
  std::atomic<uint64_t> flags;
  std::atomic<uint64_t> check;
};

struct NameEntry {
  std::atomic<uint32_t> bytes;
  char text[252];
};

static_assert(sizeof(PageHeader) == 64 && sizeof(Slot) == 64 && sizeof(NameEntry) == 256);
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == 8);

inline constexpr uint64_t kSampledFlag = 1;
inline constexpr int kNameShift = 32;  // of the name's number in the flags
inline constexpr uint32_t kNameIsBeingWritten = UINT32_MAX;

inline constexpr size_t kNamesOffset = sizeof(PageHeader) + kSlotCount * sizeof(Slot);
inline constexpr size_t kPageBytes = kNamesOffset + kNameCount * sizeof(NameEntry);

// The words of a slot that its check is made of.
struct SlotWords {
  uint64_t run[2];
  uint64_t attempt;
  uint64_t node;
  uint64_t task;
  uint64_t flags;
};

// Each factor is odd, so any one word that differs changes the result.
constexpr uint64_t CheckOf(uint32_t sequence, const SlotWords& words) {
  return (words.run[0] ^ (words.run[1] << 32 | words.run[1] >> 32)) * 0x9E3779B97F4A7C15 ^
         words.attempt * 0xBF58476D1CE4E5B9 ^ words.node * 0x94D049BB133111EB ^ words.task * 0xD6E8FEB86659FD93 ^
         words.flags * 0xC2B2AE3D27D4EB4F ^ (sequence + uint64_t{1}) * 0xA0761D6478BD642F;
}

}  // namespace wf::context

#endif  // WF_CONTEXT_LAYOUT_H_
