// Target: a Python process under observation. It is never written to or signalled, and stopped only where that is asked
// for.
//
//   Result<std::unique_ptr<Target>> target = Target::Attach(pid, {});
//   if (!target.ok()) return target.status();          // one sentence that names the gate
//   Snapshot snapshot;
//   while (…) { (*target)->Read(&snapshot); … }          // one system call for stacks, one per thread for its state
//
// Attach costs some milliseconds (it looks through the modules), Read is for loops: caches for code, names and the
// places in memory live in the Target. When Read says kNotFound the process ended; when it says kFailedPrecondition the
// interpreter is gone (finalised, or the process executes another program): Attach again.
//
// Threading: one thread at a time; targets are independent of each other.
#ifndef WF_SAMPLER_TARGET_H_
#define WF_SAMPLER_TARGET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpython/runtime.h"
#include "cpython/stack_reader.h"
#include "cpython/thread_names.h"
#include "sampler/joined_threads.h"
#include "sampler/process_memory.h"
#include "sampler/thread_sample.h"
#include "sampler/thread_states.h"
#include "wf/status.h"

namespace wf::sampler {

struct TargetOptions {
  cpython::StackReaderOptions stacks;
  bool names = true;   // learn the threads' names
  bool states = true;  // ask /proc for the threads' states: 3 us each, most of the cost with many threads
  // Only whether they run, R or S, which is cheaper when asked often; see ThreadStates::Activity.
  bool only_activity = false;
  bool cpu_time = false;  // ask /proc for the threads' CPU time; with only_activity
  bool blocking = false;  // pause the process while its stacks are read (pause.h)
};

class Target {
 public:
  // Errors: kNotFound no such process; kPermissionDenied; kFailedPrecondition for everything that is no Python that can
  // be read. Each says what to do.
  static Result<std::unique_ptr<Target>> Attach(int32_t pid, const TargetOptions& options);

  // Into the same snapshot again and again, which the caller leaves as it is: then only what is new is written to it.
  Status Read(Snapshot* snapshot);

  int32_t pid() const { return pid_; }
  const cpython::Runtime& runtime() const { return runtime_; }
  // Stacks not shown or shown in part, by reason, since Attach.
  const std::array<uint64_t, cpython::kRejectCount>& rejects() const { return stacks_.rejects(); }
  // Calls of process_vm_readv so far.
  uint64_t memory_calls() const { return memory_.calls(); }
  const ProcessMemory& memory() const { return memory_; }

 private:
  Target(int32_t pid, cpython::Runtime runtime, const TargetOptions& options);

  const cpython::Sample& ReadPaused(Snapshot* snapshot);
  void Ask(const cpython::ThreadStack& stack, int64_t now_ns, ThreadSample* thread);
  char StateOf(int32_t tid, const cpython::ThreadStack& stack, int64_t now_ns);
  bool IsArranged(const cpython::Sample& sample, const Snapshot& snapshot) const;
  void Arrange(const cpython::Sample& sample, int64_t now_ns, Snapshot* snapshot);
  void Update(const cpython::Sample& sample, int64_t now_ns, Snapshot* snapshot);
  int32_t TidOf(const cpython::ThreadStack& stack);
  void LearnTasks();

  const int32_t pid_;
  const TargetOptions options_;
  const cpython::Runtime runtime_;
  ProcessMemory memory_;
  cpython::StackReader stacks_;
  cpython::ThreadNames names_;
  ThreadStates states_;
  ThreadJoiner joiner_;
  std::map<int32_t, char> before_pause_;                  // states by tid
  std::vector<size_t> order_;                             // of the threads of the arranged snapshot, in the sample
  uint64_t arranged_ = 0;                                 // its list_version
  uint64_t arranged_list_ = 0;                            // that of the sample
  uint64_t arranged_names_ = 0;                           // of the names
  std::map<int32_t, int32_t> outer_tids_;                 // by tid in the target's own PID namespace
  std::map<std::pair<int64_t, uint64_t>, int32_t> tids_;  // by interpreter and id of the PyThreadState
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_TARGET_H_
