// StackReader: the stacks of all threads of one interpreter process, again and again, at little cost.
//
//   StackReader reader(memory, *runtime, {});
//   const Sample& sample = reader.Read();   // as often as wanted; most of the time one read of the target's memory
//
// The target runs on meanwhile. What makes a stack true all the same:
//   * A thread's frames change only while it holds the GIL. A thread that is not the GIL's last holder, while the GIL's
//     switch number stood still from before the first read to after the last one, has not run.
//     The same holds from one sample to the next: such a thread is not read again, and most threads of most programs
//     sleep. The list of threads is not followed either then, unless the holder's own links have changed.
//   * The holder, and every thread if the GIL was switched, is copied a second time, after its code objects were read;
//     who will be the holder is guessed, so that both copies mostly come from one system call.
//     Both copies must agree in every frame, not only in the topmost: the same address often is another frame.
//   * From 3.15 on the interpreter says on which frame its garbage collector runs. That is read before the first copy
//     and after it, and must not have changed: each copy bears its mark, and both copies must agree in it. What has not
//     run neither began nor ended a collection.
//   * A generator is unlinked from its caller while it is suspended. A stack that was cut off in that moment has no
//     shim at its root; before 3.12, where there are none, its outermost frame is a generator's and does not stay so.
//   * Greenlets exchange the current frame, the data stack and the C stack, on which shims lie, while their thread runs
//     on. Both copies must agree here too. From 3.12 on the library links the frames without shims meanwhile; such a
//     chain is whole when none is in it.
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
#include "cpython/frame_translator.h"
#include "cpython/memory_reader.h"
#include "cpython/mirror.h"
#include "cpython/runtime.h"
#include "cpython/stack.h"
#include "cpython/thread_heads.h"

namespace wf::cpython {

struct StackReaderOptions {
  size_t most_frames = 1000;  // the leaf-most are kept
  int attempts = 8;           // to get two copies of a running thread that agree
  // Of copies of stacks, all threads together; beyond it stacks are truncated. A hostile target has many threads, each
  // with a page for each frame.
  size_t most_bytes = 256 << 20;
};

struct ThreadStack {
  uint64_t thread = 0;      // address of its PyThreadState
  uint64_t state_id = 0;    // of that PyThreadState, never reused within an interpreter
  int64_t interpreter = 0;  // its id; 0 is the main one
  uint64_t pthread_id = 0;  // what threading.get_ident() returns there
  uint64_t native_id = 0;   // as the target's PID namespace numbers it; 0 before 3.11
  bool holds_gil = false;
  bool unchanged = false;         // has not run since the last Read: the frames are those of then
  bool ran_meanwhile = false;     // seen to run while it was read; false says nothing
  bool truncated = false;         // deeper than most_frames, or beyond most_bytes
  Reject reject = Reject::kNone;  // with frames: they are the root part only (kTorn), or end early (the others)
  uint64_t version = 0;           // another one whenever frames, truncated or reject are; unique in this process
  std::vector<Frame> frames;      // leaf first
};

// Makes `to` equal, quickly when it is `from` as of an earlier sample.
void CopyChanged(const ThreadStack& from, ThreadStack* to);

// The kernel's id of the thread, as the target's PID namespace numbers it. Before 3.11 none is stored, only the address
// of glibc's struct pthread, which holds it: then what lies there need not be one. 0: nothing can be read.
int32_t NativeIdOf(const ThreadStack& stack, MemoryReader& memory);

struct Sample {
  bool alive = false;         // false: the interpreter could not be read (it ended, or executes another program by now)
  bool complete = false;      // false: the list of threads changed while it was followed; threads may be missing
  uint64_t list_version = 0;  // another one whenever there are other threads or another order; unique in this process
  std::vector<ThreadStack> threads;
};

class StackReader {
 public:
  // `memory` must outlive it.
  StackReader(MemoryReader& memory, const Runtime& runtime, const StackReaderOptions& options);

  // The next sample. It is the reader's own and valid until the next call, which changes in it only what is new: of
  // most threads of most programs nothing.
  const Sample& Read();
  // A copy of it.
  void Read(Sample* sample) { *sample = Read(); }

  // Since the beginning, by reason.
  const std::array<uint64_t, kRejectCount>& rejects() const { return rejects_; }
  // The interpreters of the last sample, main one included, by id.
  const std::map<int64_t, uint64_t>& interpreters() const { return interpreters_; }

 private:
  static constexpr size_t kMostThreads = 1 << 14;
  // Samples between two looks at the whole list of threads, while nothing says that it changed: a thread may end
  // without a switch of the GIL.
  static constexpr uint64_t kListEvery = 8;

  // Whose stack it is. The memory of a PyThreadState is used again for the next thread.
  struct Identity {
    uint64_t state_id = 0;
    uint64_t pthread_id = 0;
    uint64_t native_id = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Slot {
    uint64_t thread = 0;     // its PyThreadState
    uint64_t next = 0;       // the one behind it
    size_t gil = 0;          // index in heads_.gils()
    size_t interpreter = 0;  // index in heads_.interpreters()
    size_t index = 0;        // in sample_.threads
    Mirror head;             // the PyThreadState
    Mirror mirror;           // the PyThreadState with the frames, as of `stack`
    Mirror second;           // a second copy of the same
    Identity identity;       // from the same copy as `stack`
    GilState before;         // of its GIL, read before `stack` was
    RawStack stack;
    Translation shown;            // what the frames in sample_ were made of
    GilState known_gil;           // the GIL, read before the stack in sample_ was
    bool has_known = false;       // the stack in sample_ is whole, and that of a thread that did not hold the GIL
    bool reused = false;          // it is the stack of this sample too
    bool is_listed = false;       // `index` is right
    uint64_t attempt_copied = 0;  // the last sample in which a second copy was looked at
    uint64_t second_planned = 0;  // the last sample whose batch had `second`
    bool settled = false;
    bool seen_attached = false;  // in a copy of this sample
    bool has_moved = false;      // between two copies of this sample
    uint64_t last_seen = 0;      // the number of the list
  };

  void FetchPlanned(bool lean);
  void PlanSeconds();
  void ReadBatch();
  void Add(Mirror& mirror);
  void FetchList();
  void FollowLists();
  bool FollowList(size_t interpreter);
  void Enter(Slot& slot, size_t interpreter);
  void ReuseOrWalk();
  void ReuseOrWake(Slot& slot);
  bool AreAsListed();
  void Settle();
  bool SettleFirst(bool has_seconds, bool last);
  template <typename Wanted>
  void Choose(const Wanted& wanted);
  void CopyBoth();
  bool TakeSeconds(bool last);
  bool HasSeconds() const;
  void CopyAgain();
  void TakeSecond(Slot& slot, bool last);
  bool MayHaveRun(const Slot& slot);
  Identity ReadIdentity(uint64_t thread, Mirror& mirror);
  void Walk(uint64_t thread, uint64_t collecting, Mirror& mirror, Identity* identity, RawStack* stack);
  bool IsCodeSame();
  bool RefreshCodes(bool unchanged);
  bool IsDetached(const RawStack& stack) const;
  bool HasMoved(const Slot& slot, const RawStack& again);
  void FinishSlot(Slot& slot);

  MemoryReader& memory_;
  const Runtime runtime_;
  const StackReaderOptions options_;
  CodeCache codes_;
  FrameTranslator translator_;
  ThreadHeads heads_;
  std::map<uint64_t, Slot> slots_;  // by PyThreadState
  std::vector<Slot*> active_;       // those whose stack is not reused
  std::vector<Slot*> wanted_;       // to be copied again
  std::map<int64_t, uint64_t> interpreters_;
  std::vector<Segment> batch_;
  std::vector<Mirror*> batch_mirrors_;
  std::vector<uint64_t> addresses_;
  std::vector<ThreadStack> old_threads_;
  RawStack again_;
  Sample sample_;
  size_t held_bytes_ = 0;  // by the mirrors of all slots when the lists were followed, with what was read since
  uint64_t samples_ = 0;
  uint64_t lists_ = 0;        // how often the lists were followed
  uint64_t list_sample_ = 0;  // the sample in which they last were
  bool list_changed_ = false;
  bool steady_ = false;       // the last sample found nothing new in the lists: the next most likely will not
  bool codes_stood_ = false;  // no code had to be read for it either
  bool seconds_have_gils_ = false;
  uint64_t seconds_planned_ = 0;  // the last sample whose batch had second copies
  std::array<uint64_t, kRejectCount> rejects_{};
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_STACK_READER_H_
