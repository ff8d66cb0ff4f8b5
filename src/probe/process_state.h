// What the readings of one process share, and what each thread keeps. Internal to the room.
//
// A forked child begins anew: its generation is another, descriptors of the parent's /proc files are closed, no attempt
// is open. Nothing here allocates, so that this also holds for a child of a program with many threads.
#ifndef WF_PROBE_PROCESS_STATE_H_
#define WF_PROBE_PROCESS_STATE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "probe/high_water.h"
#include "probe/readings.h"
#include "probe/thread_registry.h"

namespace wf::probe {

// Number of attempts ever begun (wraps) and number of them that are open, in one word, so that one atomic step tells an
// attempt who else was there.
struct AttemptCount {
  uint32_t begun = 0;
  uint32_t open = 0;

  static AttemptCount Unpack(uint64_t word) {
    return {static_cast<uint32_t>(word >> 32), static_cast<uint32_t>(word & 0xffffffffU)};
  }
};

struct ProcessState {
  static constexpr int kUnopened = -2;  // -1: tried in vain

  constexpr ProcessState() = default;

  AttemptCount BeginAttempt() { return AttemptCount::Unpack(attempts.fetch_add((uint64_t{1} << 32) + 1)); }
  AttemptCount EndAttempt() { return AttemptCount::Unpack(attempts.fetch_sub(1)); }

  std::atomic<uint64_t> generation{1};
  std::atomic<uint64_t> attempts{0};
  std::atomic<uint64_t> thread_serials{0};
  std::atomic<int> io_fd{kUnopened};
  std::atomic<int> statm_fd{kUnopened};
  ThreadRegistry threads;
  HighWaterMark high_water;
};

extern constinit ProcessState g_process;

// Zero-initialised and without destructor: an access costs no guard.
struct ThreadState {
  uint64_t generation = 0;  // of the process when this was set up
  uint64_t serial = 0;      // unique in the process; threads' addresses are reused
  int slot = -1;
  std::array<int, kThreadFiles> fds = {ProcessState::kUnopened, ProcessState::kUnopened};
  ThreadRole role = ThreadRole::kNone;
  bool ended = false;  // the thread's destructors have run
  // The last full reading on this thread that may serve as a begin reading, and what has happened since.
  bool has_last = false;
  bool others_open_at_last = false;
  uint32_t begun_at_last = 0;
  uint32_t begins_since_last = 0;
  FullReading last;
};

// Of the calling thread, set up for this process.
ThreadState& CurrentThread();
// Lists the thread under `role` from now on.
void ListThread(ThreadState* thread, ThreadRole role);

}  // namespace wf::probe

#endif  // WF_PROBE_PROCESS_STATE_H_
