// What was seen of the threads of a process at one moment.
#ifndef WF_SAMPLER_THREAD_SAMPLE_H_
#define WF_SAMPLER_THREAD_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cpython/stack_reader.h"
#include "native/address_space.h"
#include "native/unwinder.h"

namespace wf::sampler {

// A frame of a stack that shows native ones too.
struct MixedFrame {
  int32_t python = -1;                   // index in ThreadStack::frames; -1: a native one
  const native::Place* place = nullptr;  // of a native one
};

struct ThreadSample {
  int32_t tid = 0;        // as seen from here; 0: not known
  char state = '?';       // R, S, D, T … of /proc; '?': not known
  bool active = false;    // on a CPU or waiting for one
  int64_t cpu_ns = 0;     // that it ran so far, as far as was asked for
  std::string name;       // of its threading.Thread; empty: it has none
  uint64_t attempt = 0;   // of Workflow; 0: none, or not known. Not Target's to fill in, nor is:
  bool is_wanted = true;  // false: its time is to count for nothing
  cpython::ThreadStack stack;
  int64_t interpreter = 0;  // that it runs in: where it has entered another one, not the stack's own
  // Filled by NativeTarget: native and Python frames, leaf first; empty: the Python frames are all that is known.
  std::vector<MixedFrame> mixed;
  uint64_t mixed_version = 0;  // of what is in `mixed`, as ThreadStack::version is of its frames; 0: nothing is
  // Why the native frames end before the root; kRoot also when there are none.
  native::StackEnd native_end = native::StackEnd::kRoot;
  bool has_python = true;  // false: a thread that the interpreter does not know
};

struct Snapshot {
  bool complete = false;  // false: the list of threads changed meanwhile, some may be missing
  // Another one whenever there are other threads, names or another order; unique in this process. 0: not known.
  uint64_t list_version = 0;
  std::string not_paused;             // why a process that was to be paused was not; empty: it was
  std::vector<ThreadSample> threads;  // the main thread first, then as they started
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_THREAD_SAMPLE_H_
