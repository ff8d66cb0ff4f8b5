// SnapshotRecorder: writes what a Target shows of one process to a StackRecorder: threads by identity, stacks by frame.
//
// A stack that could not be read in whole is kept as far as it is known to be true, with a marker where the rest would
// be: "<torn>" inside of the part that stayed the same, "<unreadable>" or "<truncated>" outside of the innermost
// frames. One of which nothing is known is not kept; the reading before lasts on. Both are counted by reason.
//
// Native frames bear their library as file, and the line of their source where it is known.
//
// Threading: one thread at a time.
#ifndef WF_SAMPLER_SNAPSHOT_RECORDER_H_
#define WF_SAMPLER_SNAPSHOT_RECORDER_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/stack_recorder.h"
#include "sampler/target.h"

namespace wf::sampler {

class SnapshotRecorder {
 public:
  // `recorder` must outlive it. `process`: profile::Process::id.
  SnapshotRecorder(profile::StackRecorder& recorder, uint32_t process) : recorder_(recorder), process_(process) {}

  // Threads that are not in a complete snapshot have ended. One that is not complete is counted among the rejected.
  void Record(const Snapshot& snapshot, int64_t time_ns);
  // Nobody looks until the next snapshot: the time counts for nothing.
  void Pause(int64_t time_ns);
  // All threads have ended: the process did, or it executes another program.
  void End(int64_t time_ns);

 private:
  static constexpr size_t kMostCodes = 1 << 13;

  // A frame of a stack and the node that ends with it.
  struct Step {
    uint64_t code = 0;  // Code::id; 0: it could not be read
    int32_t line = 0;
    uint32_t node = profile::kEmptyStack;
  };
  struct Thread {
    uint32_t index = 0;
    uint64_t round = 0;    // in which it was last seen
    int64_t cpu_ns = 0;    // then
    uint64_t version = 0;  // ThreadStack::version of what follows
    uint32_t node = profile::kEmptyStack;
    uint32_t root = profile::kEmptyStack;  // the node before `steps`
    std::vector<Step> steps;               // root first
  };
  struct Texts {
    uint32_t name = 0, qualified_name = 0, file = 0;
  };

  void Arrange(const Snapshot& snapshot, int64_t time_ns);
  int64_t ClockOf(const Thread& thread, int64_t time_ns) const;
  void RecordThread(const ThreadSample& sample, Thread& thread, int64_t time_ns);
  uint32_t StackOf(const cpython::ThreadStack& stack, Thread& thread);
  uint32_t MixedStackOf(const ThreadSample& sample);
  uint32_t FrameOf(const cpython::Frame& frame);
  uint32_t FrameOf(const native::Place& place);
  uint32_t Marker(std::string_view text);

  profile::StackRecorder& recorder_;
  const uint32_t process_;
  uint64_t round_ = 0;
  // By interpreter and id of the PyThreadState; those that no interpreter knows by -1 and their tid.
  std::map<std::pair<int64_t, uint64_t>, Thread> threads_;
  std::vector<Thread*> order_;                 // as they stand in the snapshot of arranged_
  uint64_t arranged_ = 0;                      // its list_version
  std::unordered_map<uint64_t, Texts> texts_;  // by Code::id
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_SNAPSHOT_RECORDER_H_
