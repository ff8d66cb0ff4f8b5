// ThreadRegistry: the CPU clocks of the threads whose role we know, so that CPU can be told apart: attempts' threads,
// the profiler's own (service) threads, and, as what remains of the process, helper threads of the user's libraries.
//
// A thread counts from the moment it is added. Thread-safe; a lock is held for one system call per listed thread.
#ifndef WF_PROBE_THREAD_REGISTRY_H_
#define WF_PROBE_THREAD_REGISTRY_H_

#include <pthread.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace wf::probe {

enum class ThreadRole : uint8_t { kNone, kAttempt, kService };

// The files of one thread that readings keep open.
enum class ThreadFile : uint8_t { kIo, kSchedstat };
inline constexpr size_t kThreadFiles = 2;

class ThreadRegistry {
 public:
  static constexpr int kSlots = 128;
  // With more attempt threads than this a reading would cost too much; their sum is then not told.
  static constexpr int kMostAttemptThreads = 16;

  struct Sums {
    int64_t service_ns = 0;
    int64_t attempts_ns = 0;  // -1: too many threads
  };

  constexpr ThreadRegistry() = default;
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // Lists the calling thread. The slot, to be given back to Retire by the same thread before it ends; -1: all taken.
  int Add(ThreadRole role);
  void Retire(int slot);
  Sums Read();

  // An open /proc file of the thread in `slot`, kept here so that Retire and a forked child can close it.
  void KeepFd(int slot, ThreadFile file, int fd);

  void ResetInChild();

 private:
  struct Slot {
    ThreadRole role = ThreadRole::kNone;
    clockid_t clock = 0;
    int64_t base_ns = 0;
    std::array<int, kThreadFiles> fds = {-1, -1};
  };

  std::mutex mutex_;
  std::array<Slot, kSlots> slots_{};
  int used_ = 0;  // slots in use lie below this
  int attempt_threads_ = 0;
  bool overflowed_ = false;  // an attempt thread found no slot
  int64_t retired_service_ns_ = 0;
  int64_t retired_attempts_ns_ = 0;
};

}  // namespace wf::probe

#endif  // WF_PROBE_THREAD_REGISTRY_H_
