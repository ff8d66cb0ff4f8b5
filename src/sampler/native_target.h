// NativeTarget: a Python process whose native frames are wanted too. For each reading its threads are stopped, through
// ptrace, for as long as it takes to copy their registers and the used part of their stacks; what these say is found
// out after they go on.
//
// Threading: one thread at a time.
#ifndef WF_SAMPLER_NATIVE_TARGET_H_
#define WF_SAMPLER_NATIVE_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "native/registers.h"
#include "sampler/native_stacks.h"
#include "sampler/process_memory.h"
#include "sampler/target.h"
#include "sampler/thread_states.h"
#include "wf/status.h"

namespace wf::sampler {

struct NativeOptions {
  size_t most_frames = 1000;            // of one thread, the leaf-most
  size_t most_stack_bytes = 1 << 20;    // of one thread, the leaf-most
  size_t most_bytes = size_t{1} << 28;  // of all of them
};

// How often and how long in all a process was stopped; added up by each reading.
struct StopCount {
  uint64_t stops = 0;
  int64_t total_ns = 0;
};

class NativeTarget {
 public:
  // `target` must outlive it; best attached without `states`, which are read here, from before the stop.
  NativeTarget(Target& target, const NativeOptions& options);

  // The errors of Target::Read. Threads that the interpreter does not know come last. When the process could not be
  // stopped, `pause()` says why, and the Python frames are all there is. The frames point into this object and are
  // valid until the next call.
  Status Read(Snapshot* snapshot, StopCount* stopped);

  const Status& pause() const { return pause_; }

 private:
  // What is needed of a thread, as of the moment in which it stood still.
  struct Stopped {
    native::Registers registers;
    uint64_t stack_begin = 0;
    std::vector<std::byte> stack;
    std::vector<uint64_t> anchors;
    // What was made of it.
    uint64_t python_version = 0;  // ThreadStack::version
    std::vector<MixedFrame> mixed;
    uint64_t mixed_version = 0;
    native::StackEnd end = native::StackEnd::kRoot;

    bool IsLike(const Stopped& other) const;
  };

  void LearnMappings();
  void Capture();
  void CaptureThread(int32_t tid, size_t* left);
  void AddOthers(Snapshot* snapshot);
  void MergeAll(Snapshot* snapshot);
  bool MergeThread(Stopped& stopped, ThreadSample* thread);
  void AskBeforeStop();
  void SetState(ThreadSample* thread);
  const std::string& NameOf(int32_t tid);

  Target& target_;
  const NativeOptions options_;
  ProcessMemory memory_;
  NativeStacks stacks_;
  Snapshot python_;  // the target's own, which it only changes where something is new
  ThreadStates states_;
  std::map<int32_t, char> before_stop_;   // states of all threads then
  std::map<int32_t, std::string> names_;  // that the kernel has of threads that the interpreter does not know
  std::map<int32_t, Stopped> captured_;
  std::map<int32_t, Stopped> before_;  // those of the reading before: most threads still wait where they did
  uint64_t before_generation_ = 0;     // of the address space then
  Status pause_;
  bool is_warm_ = false;
  int64_t mappings_due_ns_ = 0;
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_NATIVE_TARGET_H_
