#include "engine.h"

#include <atomic>

#include "arguments.h"
#include "base/check.h"
#include "base/clock.h"
#include "error_state.h"
#include "errors.h"
#include "hooks.h"
#include "signature_check.h"
#include "task_description.h"

namespace wf::bindings {
namespace {

std::atomic<uint64_t> last_serial{0};
constexpr int64_t kSignalCheckNs = 50'000'000;  // how long Ctrl-C may go unnoticed while waiting

int64_t Until(double timeout) {
  return timeout < 0 || timeout > 1e9 ? INT64_MAX : base::MonotonicNs() + static_cast<int64_t>(timeout * 1e9);
}

app::TaskOptions OptionsOf(const FunctionObject* function) {
  app::TaskOptions options;
  options.mode = static_cast<app::TaskOptions::Mode>(function->mode);
  options.every = function->every;
  if (function->cpu_is_set) options.cpu = function->cpu != 0;
  return options;
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

bool IsNamed(PyObject* key, const char* name) { return PyUnicode_CompareWithASCIIString(key, name) == 0; }

}  // namespace

Job::~Job() {
  if (begun && !finished) engine->Lost(*this, false, "its executor dropped it");
  Py_XDECREF(reinterpret_cast<PyObject*>(function));
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  Py_XDECREF(engine_object);
}

Engine::Engine(app::SessionOptions options, bool loop_queue)
    : options_(std::move(options)), serial_(++last_serial), loop_queue_(loop_queue) {}

Engine::~Engine() { Clear(); }

int Engine::Traverse(visitproc visit, void* arg) {
  for (const Record& record : records_) {
    Py_VISIT(reinterpret_cast<PyObject*>(record.function));
    Py_VISIT(record.args);
    Py_VISIT(reinterpret_cast<PyObject*>(record.future));
  }
  for (const auto& [node, failure] : failures_) {
    Py_VISIT(failure.error);
    Py_VISIT(failure.trace);
  }
  return 0;
}

void Engine::Clear() {
  for (Record& record : std::exchange(records_, {})) {
    Py_XDECREF(reinterpret_cast<PyObject*>(record.function));
    Py_XDECREF(record.args);
    Py_XDECREF(record.kwnames);
    Py_XDECREF(reinterpret_cast<PyObject*>(record.future));
  }
  for (const auto& [node, failure] : std::exchange(failures_, {})) {
    Py_DECREF(failure.task);
    Py_XDECREF(failure.error);
    Py_XDECREF(failure.trace);
  }
}

Status Engine::Begin() {
  auto session = app::RunSession::Begin(options_);
  if (!session.ok()) return session.status();
  session_ = std::move(*session);
  run_id_ = session_->run().id.ToString();
  return {};
}

// ---- nodes

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

// ---- running a node here

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
  attempt->position = {session_->run().id, open.id, open.node, open.task};
}

PyObject* Engine::CallBody(FunctionObject* function, PyObject* args, PyObject* kwnames) {
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  const auto nargs = static_cast<size_t>(PyTuple_GET_SIZE(args) - keywords);
  PyObject* value = PyObject_Vectorcall(function->func, &PyTuple_GET_ITEM(args, 0), nargs, kwnames);
  if (value == nullptr) return value;
  switch (function->kind) {
    case FunctionKind::kFunction:
      if (!IsAwaitable(value)) return value;
      Py_INCREF(function->name);
      return CallHook(GetHooks().awaited, "awaited", {function->name, value});
    case FunctionKind::kGenerator: {
      PyObject* list = PySequence_List(value);
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

void Engine::NoteEnd(uint32_t node, base::AttemptState state, std::string cause) {
  if (state != base::AttemptState::kSuccess) bad_ends_.insert_or_assign(node, BadEnd{state, std::move(cause)});
}

void Engine::Work(int32_t worker) {
  app::Ready ready;
  for (;;) {
    bool got = session_->TakeReady(app::Queue::kMain, 0, &ready);
    if (!got) {
      if (session_->Finished()) break;
      Py_BEGIN_ALLOW_THREADS got = session_->TakeReady(app::Queue::kMain, -1, &ready);
      Py_END_ALLOW_THREADS if (!got) break;
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
    Py_BEGIN_ALLOW_THREADS session_->WaitChange(seen, slice);
    Py_END_ALLOW_THREADS
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
    Py_BEGIN_ALLOW_THREADS session_->WaitChange(seen, std::min(left, kSignalCheckNs));
    Py_END_ALLOW_THREADS
  }
}

// ---- nodes that run elsewhere

std::unique_ptr<Job> Engine::Take(double timeout, bool loop) {
  auto job = std::make_unique<Job>();
  const auto queue = loop ? app::Queue::kLoop : app::Queue::kMain;
  const int64_t wait_ns = timeout < 0 ? -1 : static_cast<int64_t>(timeout * 1e9);
  bool got = false;
  Py_BEGIN_ALLOW_THREADS got = session_->TakeReady(queue, wait_ns, &job->ready);
  Py_END_ALLOW_THREADS Drain();
  if (!got || records_[job->ready.node - 1].function == nullptr) return nullptr;
  const uint32_t node = job->ready.node;
  job->engine = this;
  job->engine_object = self_;
  Py_INCREF(self_);
  job->function = records_[node - 1].function;
  Py_INCREF(job->function);
  PyObject* names = records_[node - 1].kwnames;
  const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  PyObject* resolved = ResolvedArgs(node);
  if (resolved == nullptr) {
    FailBeforeStart(*job);
    return nullptr;
  }
  const Py_ssize_t nargs = PyTuple_GET_SIZE(resolved) - keywords;
  job->args = PyTuple_GetSlice(resolved, 0, nargs);
  job->kwargs = PyDict_New();
  for (Py_ssize_t i = 0; i < keywords && job->kwargs != nullptr; ++i) {
    PyDict_SetItem(job->kwargs, PyTuple_GET_ITEM(names, i), PyTuple_GET_ITEM(resolved, nargs + i));
  }
  Py_DECREF(resolved);
  return job;
}

// The arguments cannot be made (a set of values that cannot be hashed, say): the node fails with the current error.
void Engine::FailBeforeStart(Job& job) {
  PyObject* error = TakeError();
  if (Begin(job, -1, true)) {
    const app::RemoteFigures figures{job.open.start_ns, base::MonotonicNs(), 1, 0, {}};
    Finish(job, dag::Outcome::kError, nullptr, error, DescribeError(error, dag::Outcome::kError), &figures);
  }
  Py_XDECREF(error);
}

bool Engine::Begin(Job& job, int32_t worker, bool remote) {
  app::Commands out;
  job.remote = remote;
  job.begun = remote ? session_->BeginRemote(job.ready, worker, &job.open, out)
                     : session_->BeginAttempt(job.ready, worker, &job.open, out);
  if (job.begun) FillCurrent(&job.current, job.open, records_[job.ready.node - 1]);
  job.finished = !job.begun;
  Process(out);
  return job.begun;
}

bool Engine::Finish(Job& job, dag::Outcome outcome, PyObject* result, PyObject* error, app::AttemptEnd end,
                    const app::RemoteFigures* figures) {
  if (!job.begun || job.finished) return false;
  job.finished = true;
  FutureObject* future = records_[job.ready.node - 1].future;
  if (future != nullptr && outcome == dag::Outcome::kSuccess) {
    Py_XINCREF(result);
    Py_XSETREF(future->result, result);
  } else if (future != nullptr && error != nullptr && error != Py_None) {
    Py_INCREF(error);
    Py_XSETREF(future->error, error);
    Py_XSETREF(future->error_trace, PyException_GetTraceback(error));
  }
  end.outcome = outcome;
  app::Commands out;
  std::string cause = end.cause;
  const auto state = figures != nullptr ? session_->EndRemote(&job.open, std::move(end), *figures, out)
                                        : session_->EndAttempt(&job.open, std::move(end), out);
  NoteEnd(job.ready.node, state, std::move(cause));
  Process(out);
  return true;
}

void Engine::Lost(Job& job, bool innocent, const std::string& cause) {
  if (!job.begun || job.finished) return;
  job.finished = true;
  app::Commands out;
  session_->WorkerLost(&job.open, innocent, cause, out);
  NoteEnd(job.ready.node, base::AttemptState::kLost, cause);
  Process(out);
}

std::vector<uint32_t> Engine::TakeCancels() {
  Drain();
  return std::exchange(cancels_, {});
}

// ---- commands

void Engine::Drain() {
  app::Commands out;
  session_->TakePending(&out);
  if (!out.empty()) Process(out);
}

void Engine::Process(app::Commands& out) {
  for (const dag::Command& command : out) {
    if (command.kind == dag::CommandKind::kNodeFinal) NodeFinal(command);
    if (command.kind == dag::CommandKind::kCancelAttempt) cancels_.push_back(command.node);
  }
  out.clear();
}

void Engine::NodeFinal(const dag::Command& command) {
  WF_CHECK(command.node <= records_.size());
  Record record = std::exchange(records_[command.node - 1], {});
  if (record.future == nullptr) return;
  record.future->state = command.node_state;
  record.future->cause = command.cause;
  auto end = bad_ends_.extract(command.node);
  if (command.node_state == base::NodeState::kFailed) {
    KeepFailure(record.future, end.empty() ? BadEnd() : std::move(end.mapped()));
  }
  if (command.node_state != base::NodeState::kSuccess) Py_CLEAR(record.future->result);
  Py_DECREF(reinterpret_cast<PyObject*>(record.function));
  Py_DECREF(record.args);
  Py_XDECREF(record.kwnames);
  Py_DECREF(reinterpret_cast<PyObject*>(record.future));
}

void Engine::Cancel(const std::string& reason) {
  app::Commands out;
  session_->Cancel(reason, out);
  Process(out);
}

Status Engine::Close(base::RunState state, const std::string& cause) {
  if (closed_) return {};
  closed_ = true;
  Status status;
  Py_BEGIN_ALLOW_THREADS status = session_->Close(state, cause);
  Py_END_ALLOW_THREADS return status;
}

void Engine::KeepFailure(FutureObject* future, BadEnd end) {
  Py_INCREF(future->task);
  Py_XINCREF(future->error);
  Py_XINCREF(future->error_trace);
  failures_.emplace(future->node,
                    Failure{future->task, future->error, future->error_trace, future->map_index, std::move(end)});
  failed_.push_back(future->node);
}

PyObject* Engine::Failures() {
  PyObject* list = PyList_New(0);
  for (const uint32_t node : failed_) {
    const Failure& failure = failures_.at(node);
    if (failure.error != nullptr && failure.trace != nullptr) PyException_SetTraceback(failure.error, failure.trace);
    const std::string state(base::Name(failure.end.state));
    PyObject* item = Py_BuildValue("(OIOiss)", failure.error == nullptr ? Py_None : failure.error, node, failure.task,
                                   static_cast<int>(failure.map_index), state.c_str(), failure.end.cause.c_str());
    if (list == nullptr || item == nullptr || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
    if (list == nullptr) break;
  }
  return list;
}

PyObject* Engine::SkippedError(FutureObject* future) {
  const auto found = failures_.find(future->cause);
  PyObject* task = found == failures_.end() ? Py_None : found->second.task;
  PyObject* error = found == failures_.end() || found->second.error == nullptr ? Py_None : found->second.error;
  Py_INCREF(future->task);
  Py_INCREF(task);
  Py_INCREF(error);
  return CallHook(
      GetHooks().skipped_error, "skipped_error",
      {future->task, PyLong_FromUnsignedLong(future->node), task, PyLong_FromUnsignedLong(future->cause), error});
}

PyObject* Engine::CancelledError(FutureObject* future) {
  Py_INCREF(future->task);
  return CallHook(
      GetHooks().cancelled_error, "cancelled_error",
      {future->task, PyLong_FromUnsignedLong(future->node), PyUnicode_FromString(session_->CancelReason().c_str())});
}

app::AttemptEnd DescribeError(PyObject* error, dag::Outcome outcome) {
  app::AttemptEnd end{outcome, "", ""};
  if (error == nullptr) return end;
  Py_INCREF(error);
  PyObject* texts = CallHook(GetHooks().format_error, "format_error", {error});
  const char *cause = nullptr, *traceback = nullptr;
  if (texts != nullptr && PyArg_ParseTuple(texts, "ss", &cause, &traceback)) {
    end.cause = cause;
    end.traceback = traceback;
  } else {
    PyErr_Clear();
    end.cause = Py_TYPE(error)->tp_name;
  }
  Py_XDECREF(texts);
  return end;
}

}  // namespace wf::bindings
