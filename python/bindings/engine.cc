#include "engine.h"

#include <atomic>

#include "base/check.h"
#include "hooks.h"
#include "interpreter_end.h"

namespace wf::bindings {
namespace {

std::atomic<uint64_t> last_serial{0};

}  // namespace

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
  WithoutGil([&] { status = session_->Close(state, cause); });
  return status;
}

void Engine::NoteEnd(uint32_t node, base::AttemptState state, std::string cause) {
  if (state != base::AttemptState::kSuccess) bad_ends_.insert_or_assign(node, BadEnd{state, std::move(cause)});
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
