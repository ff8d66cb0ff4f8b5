// ThreadNames: the names that threading.Thread objects give the threads of an interpreter.
//
// They stand in threading._active, a dict from get_ident() to Thread. Idents are reused at once, so a name is asked for
// once per PyThreadState (its id is never reused), and again when it is older than a second: threads may be renamed.
#ifndef WF_CPYTHON_THREAD_NAMES_H_
#define WF_CPYTHON_THREAD_NAMES_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"
#include "cpython/mirror.h"
#include "cpython/stack_reader.h"

namespace wf::cpython {

class ThreadNames {
 public:
  // `memory` must outlive it.
  ThreadNames(MemoryReader& memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  // Learns what is missing or old; `now_ns` is any clock. `interpreters` as StackReader::interpreters().
  void Refresh(const Sample& sample, const std::map<int64_t, uint64_t>& interpreters, int64_t now_ns);

  // Goes up whenever a name may be another.
  uint64_t version() const { return version_; }

  // Empty when the thread has no Thread object (yet).
  const std::string& Of(const ThreadStack& thread) const;

 private:
  // Interpreter, id of the PyThreadState, and ident: before 3.12 a new thread has its parent's for a moment.
  using Key = std::tuple<int64_t, uint64_t, uint64_t>;

  std::map<uint64_t, std::string> Read(uint64_t interpreter);
  std::map<uint64_t, std::string> ReadOnce(uint64_t interpreter);

  PlannedReader memory_;
  const Layout layout_;
  struct Known {
    std::string name;
    int64_t first_seen_ns = 0;
  };

  int64_t PatienceFor(const Known& known, int64_t now_ns) const;
  void SetDue(const Sample& sample, int64_t now_ns);

  std::map<Key, Known> names_;
  uint64_t version_ = 1;
  uint64_t list_ = 0;                     // Sample::list_version of the last Refresh
  int64_t due_ns_ = 0;                    // when there is something to do for the same list
  std::map<int64_t, int64_t> read_ns_;    // when, by interpreter
  std::map<uint64_t, uint64_t> actives_;  // threading._active by interpreter's address
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_THREAD_NAMES_H_
