// Engine: nodes that run in threads of this process, without a step into Python code of ours.
#include "arguments.h"
#include "base/clock.h"
#include "engine.h"
#include "error_state.h"
#include "errors.h"
#include "hooks.h"
#include "interpreter_end.h"

namespace wf::bindings {
namespace {

constexpr int64_t kSignalCheckNs = 50'000'000;  // how long Ctrl-C may go unnoticed while waiting

int64_t Until(double timeout) {
  return timeout < 0 || timeout > 1e9 ? INT64_MAX : base::MonotonicNs() + static_cast<int64_t>(timeout * 1e9);
}

bool IsAwaitable(PyObject* value) {
  const PyAsyncMethods* async = Py_TYPE(value)->tp_as_async;
  return async != nullptr && async->am_await != nullptr;
}

// Not an error of the task's own: Ctrl-C, or a program's own handler of a signal that leaves with SystemExit.
bool IsInterrupt(PyObject* error) {
  if (error == nullptr || PyErr_GivenExceptionMatches(error, PyExc_Exception)) return false;
  Py_INCREF(error);
  PyObject* answer = CallHook(GetHooks().is_interrupt, "is_interrupt", {error});
  const bool interrupt = answer == Py_True;
  if (answer == nullptr) PyErr_Clear();
  Py_XDECREF(answer);
  return interrupt;
}

}  // namespace

// Arguments of a node with values in place of futures; the record gives its own up.
PyObject* Engine::ResolvedArgs(uint32_t node) {
  Record& record = records_[node - 1];
  PyObject* args = record.args;
  if (!record.has_futures) {
    Py_INCREF(args);
    return args;
  }
  const Py_ssize_t size = PyTuple_GET_SIZE(args);
  PyObject* resolved = PyTuple_New(size);
  for (Py_ssize_t i = 0; resolved != nullptr && i < size; ++i) {
    PyObject* value = ReplaceFutures(PyTuple_GET_ITEM(args, i));
    if (value == nullptr) {
      Py_CLEAR(resolved);
    } else {
      PyTuple_SET_ITEM(resolved, i, value);
    }
  }
  return resolved;
}

void Engine::FillCurrent(CurrentAttempt* attempt, const app::OpenAttempt& open, const Record& record) {
  attempt->engine = this;
  attempt->workflow = &workflow();
  attempt->run_id = &run_id_;
  attempt->task = record.function->name;
  attempt->node = open.node;
  attempt->number = open.number;
  attempt->attempt = open.id;
  attempt->map_index = record.future->map_index;
  attempt->position = {session_->run().id, open.id, open.node, open.task, open.sampled, record.function->page_name};
}

PyObject* Engine::CallBody(FunctionObject* function, PyObject* args, PyObject* kwnames) {
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  const auto nargs = static_cast<size_t>(PyTuple_GET_SIZE(args) - keywords);
  PyObject* value =
      InPython([&] { return PyObject_Vectorcall(function->func, &PyTuple_GET_ITEM(args, 0), nargs, kwnames); });
  if (value == nullptr) return value;
  switch (function->kind) {
    case FunctionKind::kFunction:
      if (!IsAwaitable(value)) return value;
      Py_INCREF(function->name);
      return CallHook(GetHooks().awaited, "awaited", {function->name, value});
    case FunctionKind::kGenerator: {
      PyObject* list = InPython([value] { return PySequence_List(value); });
      Py_DECREF(value);
      return list;
    }
    case FunctionKind::kCoroutine: return CallHook(GetHooks().run_coroutine, "run_coroutine", {value});
    default: return CallHook(GetHooks().collect_asyncgen, "collect_asyncgen", {value});
  }
}

PyObject* Engine::RunNode(const app::Ready& ready, int32_t worker) {
  app::Commands out;
  app::OpenAttempt open;
  CurrentAttempt attempt;
  FunctionObject* function = records_[ready.node - 1].function;
  PyObject* kwnames = records_[ready.node - 1].kwnames;
  if (function == nullptr || !session_->BeginAttempt(ready, worker, &open, out)) {
    Process(out);
    return nullptr;
  }
  Py_INCREF(function);
  Py_XINCREF(kwnames);
  FillCurrent(&attempt, open, records_[ready.node - 1]);
  PyObject* value = nullptr;
  {
    const AttemptScope scope(&attempt);
    PyObject* args = ResolvedArgs(ready.node);
    if (args != nullptr) value = CallBody(function, args, kwnames);
    Py_XDECREF(args);
  }
  PyObject* interrupt = FinishLocal(ready.node, &open, value, out);
  Py_XDECREF(kwnames);
  Py_DECREF(function);
  Process(out);
  return interrupt;
}

PyObject* Engine::FinishLocal(uint32_t node, app::OpenAttempt* open, PyObject* value, app::Commands& out) {
  FutureObject* future = records_[node - 1].future;
  app::AttemptEnd end;
  PyObject* interrupt = nullptr;
  if (value != nullptr) {
    // Before the machine hears of it: dependants look for the value at once.
    PyObject* old = future->result;
    future->result = value;
    Py_XDECREF(old);
  } else {
    PyObject* error = TakeError();
    end = DescribeError(error, dag::Outcome::kError);
    if (inline_ && IsInterrupt(error)) {
      // First, so that nothing starts any more and the machine sees in this attempt one that it had cancelled.
      session_->Cancel("interrupted", out);
      Py_INCREF(error);
      interrupt = error;
    }
    Py_XSETREF(future->error, error);
    Py_XSETREF(future->error_trace, error == nullptr ? nullptr : PyException_GetTraceback(error));
  }
  std::string cause = end.cause;
  NoteEnd(node, session_->EndAttempt(open, std::move(end), out), std::move(cause));
  return interrupt;
}

void Engine::Work(int32_t worker) {
  app::Ready ready;
  for (;;) {
    bool got = session_->TakeReady(app::Queue::kMain, 0, &ready);
    if (!got) {
      if (session_->Finished()) break;
      WithoutGil([&] { got = session_->TakeReady(app::Queue::kMain, -1, &ready); });
      if (!got) break;
    }
    Py_XDECREF(RunNode(ready, worker));
  }
  Drain();
}

int Engine::RunReady(FutureObject* until, double timeout) {
  const int64_t end = Until(timeout);
  app::Ready ready;
  for (;;) {
    Drain();
    if (until != nullptr ? base::IsFinal(until->state) : session_->Finished()) return 1;
    if (base::MonotonicNs() >= end) return 0;
    if (PyErr_CheckSignals() < 0) return -1;
    if (session_->TakeReady(app::Queue::kMain, 0, &ready)) {
      PyObject* interrupt = RunNode(ready, 0);
      if (interrupt == nullptr) continue;
      RestoreError(interrupt);
      return -1;
    }
    const Status progress = session_->CheckProgress();
    if (!progress.ok()) {
      RaiseStatus(progress);
      return -1;
    }
    const uint64_t seen = session_->Version();
    const int64_t slice = std::min<int64_t>(kSignalCheckNs, end - base::MonotonicNs());
    WithoutGil([&] { session_->WaitChange(seen, slice); });
  }
}

int Engine::WaitFor(FutureObject* future, double timeout) {
  if (current.building == this && !StartRun()) return -1;
  if (inline_) return RunReady(future, timeout);
  const int64_t end = Until(timeout);
  for (;;) {
    const uint64_t seen = session_->Version();
    Drain();
    if (future != nullptr ? base::IsFinal(future->state) : session_->Finished()) return 1;
    const int64_t left = end == INT64_MAX ? kSignalCheckNs : end - base::MonotonicNs();
    if (left <= 0) return 0;
    if (PyErr_CheckSignals() < 0) return -1;
    if (future != nullptr && session_->Finished()) {
      PyErr_Format(PyExc_RuntimeError, "the run is over and %R has no final state", future);
      return -1;
    }
    WithoutGil([&] { session_->WaitChange(seen, std::min(left, kSignalCheckNs)); });
  }
}

}  // namespace wf::bindings
