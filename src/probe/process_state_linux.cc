#include <pthread.h>
#include <unistd.h>

#include "probe/own_io.h"
#include "probe/process_state.h"

namespace wf::probe {

constinit ProcessState g_process;

namespace {

constinit thread_local ThreadState t_state;

// Gives the thread's slot back when it ends.
struct ThreadEnd {
  ~ThreadEnd() {
    if (t_state.generation == g_process.generation.load()) g_process.threads.Retire(t_state.slot);
    t_state = ThreadState{};
    t_state.ended = true;
  }
  void Arm() {}
};
thread_local ThreadEnd t_end;

void CloseInherited(std::atomic<int>* fd) {
  const int inherited = fd->exchange(ProcessState::kUnopened);
  if (inherited >= 0) close(inherited);
}

// Runs in a forked child, on its only thread.
void InForkedChild() {
  OwnIo::ResetInChild();
  g_process.threads.ResetInChild();
  g_process.high_water.ResetInChild();
  CloseInherited(&g_process.io_fd);
  CloseInherited(&g_process.statm_fd);
  g_process.attempts.store(0);
  g_process.generation.fetch_add(1);
}

[[gnu::noinline]] void SetUp() {
  [[maybe_unused]] static const int hooked = pthread_atfork(nullptr, nullptr, &InForkedChild);
  const bool ended = t_state.ended;
  t_state = ThreadState{};
  t_state.ended = ended;
  t_state.serial = g_process.thread_serials.fetch_add(1) + 1;
  t_state.generation = g_process.generation.load();
  if (!ended) t_end.Arm();
}

}  // namespace

ThreadState& CurrentThread() {
  if (t_state.generation != g_process.generation.load(std::memory_order_relaxed)) [[unlikely]]
    SetUp();
  return t_state;
}

void ListThread(ThreadState* thread, ThreadRole role) {
  if (thread->role == role || thread->ended) return;
  g_process.threads.Retire(thread->slot);
  thread->fds.fill(ProcessState::kUnopened);  // Retire closed them
  thread->role = role;
  thread->slot = g_process.threads.Add(role);
}

}  // namespace wf::probe
