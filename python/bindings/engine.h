// Engine: one run driven from Python. It gives app::RunSession what is Python's: functions, arguments, futures,
// results.
//
// Locks. Everything here runs with the GIL held; it is released only while waiting. The session has a lock of its own,
// never held while Python code runs. A node's record is dropped when the node is final; what it referred to may then
// run destructors, so no reference into `records_` is kept across a drop.
#ifndef WF_BINDINGS_ENGINE_H_
#define WF_BINDINGS_ENGINE_H_

#include <Python.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/run_session.h"
#include "current.h"
#include "function_type.h"
#include "future_type.h"

namespace wf::bindings {

// A node handed to an executor of the Python side. Holds what the attempt needs while it runs.
struct Job {
  Engine* engine = nullptr;
  PyObject* engine_object = nullptr;   // strong
  FunctionObject* function = nullptr;  // strong
  PyObject* args = nullptr;            // tuple, strong
  PyObject* kwargs = nullptr;          // dict or null, strong
  app::Ready ready;
  app::OpenAttempt open;
  CurrentAttempt current;
  bool begun = false;
  bool remote = false;
  bool finished = false;
  ThreadState outer;  // what the thread did before Enter

  Job() = default;
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
};

class Engine {
 public:
  Engine(app::SessionOptions options, bool loop_queue);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // The Python object around this engine: futures keep it alive. Set once by the binding.
  void SetSelf(PyObject* self) { self_ = self; }
  // For the garbage collector.
  int Traverse(visitproc visit, void* arg);
  void Clear();
  // Errors of the session's start are raised by the binding.
  Status Begin();

  app::RunSession& session() { return *session_; }
  const std::string& run_id() const { return run_id_; }
  const std::string& workflow() const { return session_->run().workflow; }

  // A call in a body: args as in vectorcall. nullptr with an error set.
  PyObject* AddCall(FunctionObject* function, PyObject* const* args, size_t nargs, PyObject* kwnames);
  PyObject* AddNode(FunctionObject* function, PyObject* args, PyObject* kwargs, int32_t map_index, PyObject* after);

  bool StartRun();  // false with an error set (a cycle)
  void BodyEnded(bool success);
  void SetLoopQueue(bool on) { loop_queue_ = on; }
  bool has_coroutines() const { return has_coroutines_; }

  // The loop of a worker thread.
  void Work(int32_t worker);
  // inline: runs ready nodes in this thread. 1: `until` (null: the run) is final; 0: the time is over; -1: error set.
  int RunReady(FutureObject* until, double timeout);
  // Waits for a future (null: the run), starting the run first when its body waits. As RunReady.
  int WaitFor(FutureObject* future, double timeout);
  void SetInline(bool on) { inline_ = on; }

  // For executors in Python; the job belongs to the caller. Null without an error: nothing in that time.
  std::unique_ptr<Job> Take(double timeout, bool loop);
  bool Begin(Job& job, int32_t worker, bool remote);
  bool Finish(Job& job, dag::Outcome outcome, PyObject* result, PyObject* error, app::AttemptEnd end,
              const app::RemoteFigures* figures);
  void Lost(Job& job, bool innocent, const std::string& cause);
  std::vector<uint32_t> TakeCancels();

  void Cancel(const std::string& reason);
  Status Close(base::RunState state, const std::string& cause);
  void Drain();  // carries out what happened on other threads

  PyObject* SkippedError(FutureObject* future);
  PyObject* CancelledError(FutureObject* future);
  // A list of tuples, in the order in which the nodes failed: (exception or None, node, task, map index, state of the
  // last attempt, its cause). Each exception has the traceback back that it had in its task.
  PyObject* Failures();

 private:
  struct Record {
    FunctionObject* function = nullptr;  // strong; null: dropped
    PyObject* args = nullptr;            // tuple: positional, then values of keywords
    PyObject* kwnames = nullptr;         // tuple of str, or null
    FutureObject* future = nullptr;      // strong
    bool has_futures = false;
  };

  // How the last attempt of a node ended that did not succeed.
  struct BadEnd {
    base::AttemptState state = base::AttemptState::kError;
    std::string cause;
  };

  // What is kept of a failed node: it is named as the cause of what is skipped. Strong references.
  struct Failure {
    PyObject* task = nullptr;
    PyObject* error = nullptr;
    PyObject* trace = nullptr;
    int32_t map_index = -1;
    BadEnd end;
  };

  uint32_t TaskOf(FunctionObject* function);
  PyObject* AddRecord(FunctionObject* function, PyObject* args, PyObject* kwnames, int32_t map_index, PyObject* after);
  PyObject* ResolvedArgs(uint32_t node);
  void FailBeforeStart(Job& job);
  // Inline, the exception that interrupted the attempt, as a new reference: it goes on to the caller. Else null.
  PyObject* RunNode(const app::Ready& ready, int32_t worker);
  PyObject* CallBody(FunctionObject* function, PyObject* args, PyObject* kwnames);
  PyObject* FinishLocal(uint32_t node, app::OpenAttempt* open, PyObject* value, app::Commands& out);
  void Process(app::Commands& out);
  void NodeFinal(const dag::Command& command);
  void NoteEnd(uint32_t node, base::AttemptState state, std::string cause);
  void KeepFailure(FutureObject* future, BadEnd end);
  void FillCurrent(CurrentAttempt* attempt, const app::OpenAttempt& open, const Record& record);

  app::SessionOptions options_;
  std::unique_ptr<app::RunSession> session_;
  PyObject* self_ = nullptr;  // borrowed: it owns us
  std::string run_id_;
  const uint64_t serial_;
  std::deque<Record> records_;  // [node - 1]
  std::vector<uint32_t> deps_scratch_;
  std::vector<uint32_t> cancels_;
  std::unordered_map<uint32_t, Failure> failures_;  // by node
  std::vector<uint32_t> failed_;                    // the keys of failures_, in the order in which they failed
  std::unordered_map<uint32_t, BadEnd> bad_ends_;   // of nodes that are not final: a retry may follow
  bool loop_queue_ = false;
  bool inline_ = false;
  bool has_coroutines_ = false;
  bool closed_ = false;
};

// A Python exception as (type: message, traceback text); clears nothing. Never fails.
app::AttemptEnd DescribeError(PyObject* error, dag::Outcome outcome);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_ENGINE_H_
