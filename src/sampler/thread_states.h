// ThreadStates: whether the threads of a process run, asked of /proc at as little cost as the truth allows.
//
// "stat" tells a thread's state exactly, in 3 us. For a loop, Activity asks less: "syscall" tells whether a thread runs
// in a third of that. A thread that waited, and of which the caller knows that it ran no Python code since, is not
// asked at all for kLateNs, and then only whether it was put on a CPU since ("schedstat", cheaper still): one that
// wakes up inside a C function without taking the GIL is seen that much later.
//
// Descriptors stay open, at most kMostOpen; what has none is opened each time. Threading: one thread at a time.
#ifndef WF_SAMPLER_THREAD_STATES_H_
#define WF_SAMPLER_THREAD_STATES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"

namespace wf::sampler {

class ThreadStates {
 public:
  static constexpr int64_t kLateNs = 10'000'000;

  explicit ThreadStates(int32_t pid) : pid_(pid) {}

  // Whether this kernel tells the CPU time of threads of other processes to the nanosecond (CONFIG_SCHED_INFO).
  static bool CanTellCpu();

  bool Exists(int32_t tid) const;
  // R, S, D, T … of /proc; '?': there is no such thread.
  char State(int32_t tid);
  // R: on a CPU or waiting for one. S: waits, in whatever way. '?': there is no such thread. `ran_no_python`: since the
  // call before, as far as the interpreter tells.
  char Activity(int32_t tid, bool ran_no_python, int64_t now_ns);

  // As State, for who stops the thread after each call: one that only woke up because it went on, to begin its wait
  // anew, is said to wait as before. CpuNs is as of this call then.
  char StateBeforeStop(int32_t tid);
  // R, of which the caller is sure.
  char Ran(int32_t tid);
  // CPU time of the thread since its start, in ns, as of the last Activity that did not know that it slept; the kernel
  // brings it up to date when the thread is switched and at each of its ticks (1 to 10 ms). 0: the kernel does not
  // tell.
  int64_t CpuNs(int32_t tid);

  // The threads that there are; what is known of others is forgotten.
  void KeepOnly(const std::vector<int32_t>& tids);

 private:
  // Descriptors are few (1,024 for a process, by default), and one process may watch many.
  static constexpr size_t kMostOpen = 512;

  struct Known {
    base::Fd schedule, call, stat;
    bool waits = false;  // when it was last asked
    uint64_t runs = 0;   // how often it was put on a CPU until then, at least; 0: not known
    int64_t cpu_ns = 0;
    bool may_have_run = true;  // since cpu_ns was read
    char before_stop = '?';    // the last answer of StateBeforeStop
    int64_t due_ns = 0;        // when a thread that waits is asked again
    bool is_kept = false;
  };

  // Empty when the file cannot be read. Valid until the next call.
  std::string_view ReadFile(int32_t tid, const char* name, base::Fd* kept);
  std::string PathOf(int32_t tid, const char* name) const;
  base::Fd Open(int32_t tid, const char* name);
  void Close(base::Fd* file);
  void CloseAll(Known& known);
  void Forget(int32_t tid);
  bool ReadSchedule(int32_t tid, Known& known, uint64_t* cpu_ns, uint64_t* runs);
  uint64_t Runs(int32_t tid, Known& known);
  char RunsNow(int32_t tid, Known& known);
  char StateOf(int32_t tid, Known& known);

  const int32_t pid_;
  std::unordered_map<int32_t, Known> known_;
  size_t open_ = 0;  // descriptors in known_
  char text_[512] = {};
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_THREAD_STATES_H_
