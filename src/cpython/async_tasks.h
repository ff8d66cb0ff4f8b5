// AsyncTasks: the asyncio tasks of a target that are not done: their names, and what each of them awaits.
//
// Until 3.13 they stand in WeakSets of the module asyncio.tasks, and while they begin eagerly in a set there; from 3.14
// on in lists that start in the threads and in the interpreter. Not thread-safe. Everything that is read is hostile.
#ifndef WF_CPYTHON_ASYNC_TASKS_H_
#define WF_CPYTHON_ASYNC_TASKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cpython/code_cache.h"
#include "cpython/coroutine.h"
#include "cpython/frame_translator.h"
#include "cpython/memory_reader.h"
#include "cpython/runtime.h"

namespace wf::cpython {

struct AsyncTask {
  uint64_t address = 0;
  std::string name;
  uint64_t thread_id = 0;  // threading.get_ident() of the thread that runs its loop; 0: not known
  bool running = false;    // its coroutine runs right now
  bool waiting = false;    // for a future; neither: the loop will go on with it
  bool truncated = false;
  std::string awaited_task;   // the name of the task that it awaits; empty: it awaits none
  std::vector<Frame> frames;  // leaf first; of a running task up to where it was last resumed only
};

struct AsyncSnapshot {
  bool imported = false;   // the program has asyncio
  uint64_t unsettled = 0;  // tasks that changed each time they were read, so that they are not shown
  bool limited = false;    // there are more than kMostTasks
  std::vector<AsyncTask> tasks;
};

class AsyncTasks {
 public:
  static constexpr size_t kMostTasks = 10'000;

  // `memory` must outlive it.
  AsyncTasks(MemoryReader& memory, const Runtime& runtime);

  // `threads`: addresses of the PyThreadStates (ThreadStack::thread). A task is shown only as two readings, with its
  // code objects read between them, agree in.
  AsyncSnapshot Read(std::span<const uint64_t> threads);

 private:
  struct RawTask {
    std::string name;
    uint64_t loop = 0;
    uint64_t waiter = 0;
    uint64_t coroutine = 0;
    AwaitChain chain;
    bool operator==(const RawTask&) const = default;
  };

  std::set<uint64_t> Find(std::span<const uint64_t> threads, AsyncSnapshot* snapshot);
  void AddFromModule(uint64_t interpreter, std::set<uint64_t>* found, AsyncSnapshot* snapshot);
  void AddFromSet(uint64_t set, bool weak, std::set<uint64_t>* found);
  void AddFromList(uint64_t head, std::set<uint64_t>* found);
  std::optional<RawTask> ReadTask(uint64_t address);
  std::optional<RawTask> ReadNativeTask(uint64_t address);
  std::optional<RawTask> ReadPythonTask(uint64_t address);
  std::string NameFrom(uint64_t object);
  uint64_t ThreadOf(uint64_t loop);
  AsyncTask Show(uint64_t address, const RawTask& raw);
  void Settle(std::set<uint64_t>* pending, std::map<uint64_t, RawTask>* settled, std::vector<AsyncTask>* shown);

  MemoryReader& memory_;
  const Runtime runtime_;
  CodeCache codes_;
  FrameTranslator translator_;
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_ASYNC_TASKS_H_
