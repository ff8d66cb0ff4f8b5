// What the calling thread is doing: which workflow body it builds, which attempt it runs. Switched at each start of an
// attempt and at each resume of a coroutine.
#ifndef WF_BINDINGS_CURRENT_H_
#define WF_BINDINGS_CURRENT_H_

#include <Python.h>

#include <cstdint>
#include <string>

#include "context/thread_slot.h"

namespace wf::bindings {

class Engine;

// An attempt as user code sees it. Lives as long as the attempt.
struct CurrentAttempt {
  Engine* engine = nullptr;  // null in a worker process
  const std::string* workflow = nullptr;
  const std::string* run_id = nullptr;
  PyObject* task = nullptr;  // str, borrowed
  uint32_t node = 0;
  uint32_t number = 0;
  uint64_t attempt = 0;
  int32_t map_index = -1;
  context::Position position;  // what the context page says meanwhile
};

struct ThreadState {
  Engine* building = nullptr;         // a workflow's body runs in this thread and collects nodes
  CurrentAttempt* attempt = nullptr;  // innermost
};

inline thread_local ThreadState current;

// Makes `next` what this thread does, here and on the context page; returns what it did.
inline ThreadState Switch(ThreadState next) {
  const ThreadState before = current;
  current = next;
  context::Current().Set(next.attempt == nullptr ? context::Position{} : next.attempt->position);
  return before;
}

// While it lives: the thread runs `attempt` and builds nothing.
class AttemptScope {
 public:
  explicit AttemptScope(CurrentAttempt* attempt) : saved_(Switch({nullptr, attempt})) {}
  ~AttemptScope() { Switch(saved_); }
  AttemptScope(const AttemptScope&) = delete;
  AttemptScope& operator=(const AttemptScope&) = delete;

 private:
  ThreadState saved_;
};

}  // namespace wf::bindings

#endif  // WF_BINDINGS_CURRENT_H_
