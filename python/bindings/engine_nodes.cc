// Engine: the body of the workflow adds nodes.
#include "arguments.h"
#include "base/check.h"
#include "context/thread_slot.h"
#include "engine.h"
#include "errors.h"
#include "signature_check.h"
#include "task_description.h"

namespace wf::bindings {
namespace {

app::TaskOptions OptionsOf(const FunctionObject* function) {
  app::TaskOptions options;
  options.mode = static_cast<app::TaskOptions::Mode>(function->mode);
  options.every = function->every;
  if (function->cpu_is_set) options.cpu = function->cpu != 0;
  return options;
}

bool IsNamed(PyObject* key, const char* name) { return PyUnicode_CompareWithASCIIString(key, name) == 0; }

}  // namespace

uint32_t Engine::TaskOf(FunctionObject* function) {
  if (function->engine_serial == serial_) return function->engine_task;
  profile::Task task;
  if (!DescribeTask(function, &task)) return 0;
  const auto id = session_->AddTask(task, OptionsOf(function));
  if (!id.ok()) {
    RaiseStatus(id.status());
    return 0;
  }
  function->engine_serial = serial_;
  function->engine_task = *id;
  function->page_name = context::NumberOfName(task.name);
  return *id;
}

PyObject* Engine::AddCall(FunctionObject* function, PyObject* const* args, size_t nargs, PyObject* kwnames) {
  PyObject* after = nullptr;
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  Py_ssize_t after_at = -1;
  for (Py_ssize_t i = 0; function->after_keyword && i < keywords; ++i) {
    if (!IsNamed(PyTuple_GET_ITEM(kwnames, i), "after")) continue;
    after_at = i;
    after = args[static_cast<Py_ssize_t>(nargs) + i];
  }
  const Py_ssize_t kept = keywords - (after_at >= 0 ? 1 : 0);
  PyObject* values = PyTuple_New(static_cast<Py_ssize_t>(nargs) + kept);
  PyObject* names = kept > 0 ? PyTuple_New(kept) : nullptr;
  if (values == nullptr || (kept > 0 && names == nullptr)) return nullptr;
  Py_ssize_t at = 0;
  for (Py_ssize_t i = 0; i < static_cast<Py_ssize_t>(nargs) + keywords; ++i) {
    const Py_ssize_t keyword = i - static_cast<Py_ssize_t>(nargs);
    if (keyword >= 0 && keyword == after_at) continue;
    if (keyword >= 0) {
      PyObject* name = PyTuple_GET_ITEM(kwnames, keyword);
      Py_INCREF(name);
      PyTuple_SET_ITEM(names, at - static_cast<Py_ssize_t>(nargs), name);
    }
    Py_INCREF(args[i]);
    PyTuple_SET_ITEM(values, at++, args[i]);
  }
  return AddRecord(function, values, names, -1, after);
}

PyObject* Engine::AddNode(FunctionObject* function, PyObject* args, PyObject* kwargs, int32_t map_index,
                          PyObject* after) {
  const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
  const Py_ssize_t keywords = kwargs == nullptr ? 0 : PyDict_Size(kwargs);
  PyObject* values = PyTuple_New(nargs + keywords);
  PyObject* names = keywords > 0 ? PyTuple_New(keywords) : nullptr;
  if (values == nullptr || (keywords > 0 && names == nullptr)) return nullptr;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    Py_INCREF(PyTuple_GET_ITEM(args, i));
    PyTuple_SET_ITEM(values, i, PyTuple_GET_ITEM(args, i));
  }
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  for (Py_ssize_t i = 0; keywords > 0 && PyDict_Next(kwargs, &position, &key, &value); ++i) {
    Py_INCREF(key);
    PyTuple_SET_ITEM(names, i, key);
    Py_INCREF(value);
    PyTuple_SET_ITEM(values, nargs + i, value);
  }
  return AddRecord(function, values, names, map_index, after);
}

// Takes over `args` and `kwnames`.
PyObject* Engine::AddRecord(FunctionObject* function, PyObject* args, PyObject* kwnames, int32_t map_index,
                            PyObject* after) {
  const uint32_t task = TaskOf(function);
  deps_scratch_.clear();
  int found = task == 0 || !CheckCall(function, args, kwnames) ? -1 : 0;
  for (Py_ssize_t i = 0; found >= 0 && i < PyTuple_GET_SIZE(args); ++i) {
    const int one = FindFutures(PyTuple_GET_ITEM(args, i), this, &deps_scratch_);
    found = one < 0 ? -1 : found | one;
  }
  const size_t data_deps = deps_scratch_.size();
  if (found >= 0 && after != nullptr && FindFutures(after, this, &deps_scratch_) < 0) found = -1;
  if (found >= 0) {
    app::NodeRequest request;
    request.task = task;
    request.map_index = map_index;
    const bool coroutine =
        function->kind == FunctionKind::kCoroutine || function->kind == FunctionKind::kAsyncGenerator;
    has_coroutines_ = has_coroutines_ || coroutine;
    request.queue = coroutine && loop_queue_ ? app::Queue::kLoop : app::Queue::kMain;
    request.data_deps = {deps_scratch_.data(), data_deps};
    request.after_deps = {deps_scratch_.data() + data_deps, deps_scratch_.size() - data_deps};
    // The record must be there before another thread can take the node: threads need the GIL for that, which we hold.
    app::Commands out;
    const auto node = session_->AddNode(request, out);
    if (node.ok()) {
      FutureObject* future = NewFuture(self_, this, function->name, *node, map_index);
      WF_CHECK(future != nullptr && records_.size() + 1 == *node);
      Py_INCREF(function);
      Py_INCREF(future);
      records_.push_back({function, args, kwnames, future, found > 0});
      if (!out.empty()) Process(out);
      return reinterpret_cast<PyObject*>(future);
    }
    RaiseStatus(node.status());
  }
  Py_DECREF(args);
  Py_XDECREF(kwnames);
  return nullptr;
}

bool Engine::StartRun() {
  app::Commands out;
  const Status status = session_->Start(out);
  Process(out);
  if (!status.ok()) RaiseStatus(status);
  return status.ok();
}

void Engine::BodyEnded(bool success) {
  app::Commands out;
  session_->BodyEnded(success ? dag::BodyOutcome::kSuccess : dag::BodyOutcome::kError, out);
  Process(out);
}

}  // namespace wf::bindings
