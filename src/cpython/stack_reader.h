// StackReader: the stacks of all threads of one interpreter process, again and again, at little cost.
//
//   StackReader reader(memory, *runtime, {});
//   Sample sample;
//   reader.Read(&sample);      // as often as wanted; most of the time two reads of the target's memory
//
// The target runs on meanwhile. What makes a stack true all the same:
//   * A thread's frames change only while it holds the GIL. A thread that is not the GIL's last holder, while the GIL's
//     switch number stood still from before the first read to after the last one, has not run.
//     The same holds from one sample to the next: such a thread is not read again, and most threads of most programs
//     sleep.
//   * The holder, and every thread if the GIL was switched, is copied a second time, after its code objects were read.
//     Both copies must agree in every frame, not only in the topmost: the same address often is another frame.
//   * A generator is unlinked from its caller while it is suspended. A stack whose outermost frame is one has been cut
//   off
//     in that moment, unless it stays like that.
//   * When copies differ, it is tried again; after that the root part on which two copies agree is kept, and said so.
//
// Not thread-safe; one reader per target and thread. Everything that is read is hostile: all loops are bounded.
#ifndef WF_CPYTHON_STACK_READER_H_
#define WF_CPYTHON_STACK_READER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cpython/code_cache.h"
#include "cpython/memory_reader.h"
#include "cpython/mirror.h"
#include "cpython/runtime.h"
#include "cpython/stack.h"

namespace wf::cpython {

struct StackReaderOptions {
  size_t most_frames = 1000;  // the leaf-most are kept
  int attempts = 8;           // to get two copies of a running thread that agree
};

struct Frame {
  std::shared_ptr<const Code> code;  // nullptr: its code object could not be read
  int32_t line = 0;                  // 0: none, or not known
  uint64_t address = 0;              // of the frame; for locals
};

struct ThreadStack {
  uint64_t thread = 0;      // address of its PyThreadState
  uint64_t state_id = 0;    // of that PyThreadState, never reused within an interpreter
  int64_t interpreter = 0;  // its id; 0 is the main one
  uint64_t pthread_id = 0;  // what threading.get_ident() returns there
  uint64_t native_id = 0;   // as the target's PID namespace numbers it; 0 before 3.11
  bool holds_gil = false;
  bool unchanged = false;         // has not run since the last Read: the frames are those of then
  bool truncated = false;         // deeper than most_frames
  Reject reject = Reject::kNone;  // with frames: they are the root part only (kTorn), or end early (the others)
  std::vector<Frame> frames;      // leaf first
};

struct Sample {
  bool alive = false;     // false: the interpreter could not be read (it ended, or executes another program by now)
  bool complete = false;  // false: the list of threads changed while it was followed; threads may be missing
  std::vector<ThreadStack> threads;
};

class StackReader {
 public:
  // `memory` must outlive it.
  StackReader(MemoryReader& memory, const Runtime& runtime, const StackReaderOptions& options);

  void Read(Sample* sample);

  // Since the beginning, by reason.
  const std::array<uint64_t, kRejectCount>& rejects() const { return rejects_; }
  // The interpreters of the last sample, main one included, by id.
  const std::map<int64_t, uint64_t>& interpreters() const { return interpreters_; }

 private:
  static constexpr size_t kMostInterpreters = 256;
  static constexpr size_t kMostThreads = 1 << 14;

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
  // Whose stack it is. The memory of a PyThreadState is used again for the next thread.
  struct Identity {
    uint64_t state_id = 0;
    uint64_t pthread_id = 0;
    uint64_t native_id = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Slot {
    Mirror head;        // the PyThreadState
    Mirror mirror;      // the PyThreadState with the frames, as of `stack`
    Identity identity;  // from the same copy as `stack`
    uint64_t gil = 0;
    GilState before;  // of its GIL, read before `stack` was
    RawStack stack;
    ThreadStack known;   // the last whole stack
    GilState known_gil;  // its GIL, read before it was
    bool has_known = false;
    bool reused = false;  // `known` is the stack of this sample too
    bool settled = false;
    bool seen_attached = false;  // in a copy of this sample
    uint64_t last_seen = 0;
  };

  // A second copy of a stack.
  struct Second {
    Mirror mirror;
    GilState before;
  };

  void FetchPlanned();
  void ReuseOrWalk();
  bool ListThreads(Sample* sample);
  bool ListThreadsOf(uint64_t interpreter, Sample* sample);
  GilState ReadGil(uint64_t address, Mirror& mirror);
  void Settle();
  bool SettleOnce(bool last);
  std::map<uint64_t, GilState> CopyAgain(const std::vector<uint64_t>& threads, std::map<uint64_t, Second>* copies);
  Identity ReadIdentity(uint64_t thread, Mirror& mirror);
  RawStack Walk(uint64_t thread, Mirror& mirror, Identity* identity);
  void RefreshCodes(bool unchanged);
  bool IsDetached(const RawStack& stack) const;
  void Finish(Sample* sample);
  void FinishSlot(Slot& slot, ThreadStack* thread);
  void Translate(const RawStack& raw, ThreadStack* thread);
  bool SetLine(const RawFrame& raw, Frame* frame, Reject* reject) const;

  MemoryReader& memory_;
  const Runtime runtime_;
  const StackReaderOptions options_;
  CodeCache codes_;
  Mirror heads_;
  std::map<uint64_t, Slot> slots_;     // by PyThreadState
  std::map<uint64_t, GilState> gils_;  // as last read, by address
  std::map<int64_t, uint64_t> interpreters_;
  std::vector<uint32_t> counters_;       // of the interpreters: code made so far
  std::vector<uint32_t> last_counters_;  // when the code cache was last refreshed
  std::vector<Segment> batch_;
  uint64_t samples_ = 0;
  std::array<uint64_t, kRejectCount> rejects_{};
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_STACK_READER_H_
