// ThreadHeads: what the interpreters of a target say before any stack is looked at: who holds each GIL, where each list
// of threads begins, how many code objects were made so far.
//
// Not thread-safe. What is read is hostile: all loops are bounded.
#ifndef WF_CPYTHON_THREAD_HEADS_H_
#define WF_CPYTHON_THREAD_HEADS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cpython/memory_reader.h"
#include "cpython/mirror.h"
#include "cpython/runtime.h"

namespace wf::cpython {

struct GilState {
  bool is_known = false;  // what cannot be read is never taken for unchanged
  uint64_t holder = 0;
  uint64_t switches = 0;
  bool locked = false;
  // Between two equal states no thread but the holder has run.
  bool IsSameHold(const GilState& other) const {
    return is_known && other.is_known && holder == other.holder && switches == other.switches;
  }
};

struct Gil {
  uint64_t address = 0;
  GilState state;
};

struct InterpreterHead {
  uint64_t address = 0;
  int64_t id = 0;
  size_t gil = 0;  // index in ThreadHeads::gils()
  uint64_t first_thread = 0;
  // On which its garbage collector runs; 0: it does not, or the version does not tell. A thread's own matter, like its
  // frames: only while that thread holds the GIL does the collector begin or end on one of them.
  uint64_t collecting_frame = 0;
  bool IsSameList(const InterpreterHead& other) const {
    return address == other.address && id == other.id && gil == other.gil && first_thread == other.first_thread;
  }
};

class ThreadHeads {
 public:
  explicit ThreadHeads(const Runtime& runtime) : runtime_(runtime) {}

  // Decodes what mirror(lean) holds, and reads what it lacks. False when there is no interpreter. `lean`: the
  // interpreters are those of the last Read, which are not looked for again; only what they say is new.
  bool Read(MemoryReader& memory, bool lean);
  // To read the GILs, and on what frames the collectors run, of the last Read once more: plans again_mirror() for them.
  void PlanAgain(std::vector<Segment>* batch);
  // Whether the last PlanAgain was for these same GILs and interpreters.
  bool IsPlannedAgain() const;
  // What was planned and accepted there.
  void ReadAgain(MemoryReader& memory);
  // The collecting frames as of what was planned and accepted there, in the order of interpreters().
  uint64_t CollectingFrameAgain(MemoryReader& memory, size_t interpreter);
  // The same as of counters_mirror().
  uint64_t CollectingFrameAfter(MemoryReader& memory, size_t interpreter);
  // Whether no code object was made between the call before and now, or when counters_mirror() was read. Only where it
  // was read later than stacks were, this says that their code objects are those of then. False where nobody counts.
  bool IsCodeSame(MemoryReader& memory);

  Mirror& mirror(bool lean) { return lean ? lean_ : mirror_; }
  Mirror& again_mirror() { return again_; }
  Mirror& counters_mirror() { return counters_mirror_; }
  const std::vector<InterpreterHead>& interpreters() const { return interpreters_; }
  // In the first read of this sample.
  const std::vector<Gil>& gils() const { return gils_; }
  // In the last ReadAgain, in the order of gils().
  const std::vector<Gil>& gils_now() const { return gils_now_; }
  // All interpreters were read.
  bool complete() const { return complete_; }
  // Since the Read before, no thread but the holders of the GILs has run, and no list has another beginning.
  bool is_same() const { return is_same_; }

 private:
  static constexpr size_t kMostInterpreters = 256;

  bool ReadInterpreters(MemoryReader& memory);
  bool ReadInterpreter(MemoryReader& memory, uint64_t address);
  bool ReadLean(MemoryReader& memory);
  size_t IndexOfGil(MemoryReader& memory, uint64_t address);
  GilState ReadGil(MemoryReader& memory, Mirror& mirror, uint64_t address) const;
  uint64_t CollectingFrame(MemoryReader& memory, Mirror& mirror, uint64_t interpreter) const;
  void Compare();

  const Runtime runtime_;
  Mirror mirror_;
  Mirror lean_;
  Mirror again_;
  Mirror counters_mirror_;
  std::vector<InterpreterHead> interpreters_, last_interpreters_;
  std::vector<Gil> gils_, last_gils_, gils_now_;
  std::vector<uint64_t> planned_again_;               // addresses of GILs
  std::vector<uint64_t> planned_again_interpreters_;  // and of interpreters
  std::vector<uint32_t> counters_, last_counters_;
  bool complete_ = false;
  bool is_same_ = false;
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_THREAD_HEADS_H_
