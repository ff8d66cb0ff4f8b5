#include "direct_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "app/run_session.h"
#include "base/clock.h"
#include "base/version.h"
#include "current.h"
#include "engine.h"
#include "error_state.h"
#include "errors.h"
#include "hooks.h"
#include "interpreter_end.h"
#include "metrics/run_families.h"
#include "task_description.h"

namespace wf::bindings {
namespace {

// The run of kind "recording" that profiling.start opened; direct calls are its nodes.
struct DirectStore {
  std::unique_ptr<app::RunSession> session;
  uint32_t serial = 0;
};

DirectStore& Direct() {
  static DirectStore& store = *new DirectStore;
  return store;
}

// The children under which a call counts: workflow "" outside every attempt, else the attempt's workflow.
metrics::TaskMetrics* MetricsOf(FunctionObject* function) {
  const std::string* workflow = current.attempt == nullptr ? nullptr : current.attempt->workflow;
  if (workflow == nullptr && function->direct != nullptr) return function->direct;
  if (workflow != nullptr && function->nested_workflow == workflow) return function->nested;
  auto families = metrics::DefaultRunFamilies({metrics::DefaultNamePrefix(), std::string(Version())});
  if (!families.ok()) {
    RaiseStatus(families.status());
    return nullptr;
  }
  const char* name = PyUnicode_AsUTF8(function->name);
  if (name == nullptr) return nullptr;
  metrics::TaskMetrics* metrics = (*families)->Task(workflow == nullptr ? "" : *workflow, name);
  if (workflow == nullptr) {
    function->direct = metrics;
  } else {
    function->nested = metrics;
    function->nested_workflow = workflow;
  }
  return metrics;
}

void Record(FunctionObject* function, int64_t start_ns, int64_t end_ns, int64_t cpu_ns, base::AttemptState state) {
  DirectStore& direct = Direct();
  if (function->direct_serial != direct.serial) {
    profile::Task task;
    // A function that cannot be described or named twice is left out; the call itself must not suffer.
    if (!DescribeTask(function, &task)) {
      PyErr_Clear();
      return;
    }
    const auto id = direct.session->AddTask(task, {});
    if (!id.ok()) return;
    function->direct_task = *id;
    function->direct_serial = direct.serial;
  }
  profile::Attempt attempt;
  attempt.start_ns = start_ns;
  attempt.end_ns = end_ns;
  attempt.state = state;
  attempt.tid = static_cast<int32_t>(syscall(SYS_gettid));
  if (cpu_ns >= 0) attempt.usage.cpu_ns = profile::Figure::Measured(cpu_ns);
  direct.session->RecordCall(function->direct_task, attempt);
}

void Count(FunctionObject* function, metrics::TaskMetrics* metrics, int64_t start_ns, int64_t cpu_ns,
           base::AttemptState state) {
  const int64_t end_ns = base::MonotonicNs();
  metrics->ObserveAttempt(base::LabelOf(state), end_ns - start_ns, cpu_ns);
  if (Direct().session == nullptr || current.attempt != nullptr) return;
  // The error of the call, if any, is the user's: it must come out as it was.
  PyObject* error = TakeError();
  Record(function, start_ns, end_ns, cpu_ns, state);
  RestoreError(error);
}

PyObject* WrapStream(FunctionObject* function, PyObject* stream) {
  if (stream == nullptr) return nullptr;
  PyObject* self = reinterpret_cast<PyObject*>(function);
  Py_INCREF(self);
  return CallHook(GetHooks().wrap_stream, "wrap_stream", {self, stream});
}

}  // namespace

PyObject* CallMeasured(FunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  if (function->kind != FunctionKind::kFunction) {
    return WrapStream(function, PyObject_Vectorcall(function->func, args, nargsf, kwnames));
  }
  metrics::TaskMetrics* metrics = MetricsOf(function);
  if (metrics == nullptr) return nullptr;
  const int64_t start_ns = base::MonotonicNs();
  const int64_t cpu_ns = function->cpu ? base::ThreadCpuNs() : 0;
  PyObject* result = InPython([&] { return PyObject_Vectorcall(function->func, args, nargsf, kwnames); });
  const int64_t used_ns = function->cpu ? base::ThreadCpuNs() - cpu_ns : -1;
  const auto state = result != nullptr ? base::AttemptState::kSuccess : StateOfCurrentError();
  Count(function, metrics, start_ns, used_ns, state);
  return result;
}

base::AttemptState StateOfCurrentError() {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) || PyErr_ExceptionMatches(PyExc_GeneratorExit)) {
    return base::AttemptState::kCancelled;
  }
  // asyncio.CancelledError without importing asyncio: a direct subclass of BaseException of that name.
  PyObject* type = PyErr_Occurred();
  if (type != nullptr && PyType_Check(type) && !PyErr_ExceptionMatches(PyExc_Exception) &&
      std::string_view(reinterpret_cast<PyTypeObject*>(type)->tp_name).ends_with("CancelledError")) {
    return base::AttemptState::kCancelled;
  }
  return base::AttemptState::kError;
}

Observation::Observation(FunctionObject* of) : function(of), start_ns(base::MonotonicNs()) { Py_INCREF(of); }

Observation::~Observation() {
  // Dropped without an end: a coroutine that was never awaited, a generator never exhausted nor closed.
  if (!finished && slice_ns == -1 && cpu_ns == 0) finished = true;
  if (!finished) Finish(base::AttemptState::kCancelled);
  Py_XDECREF(function);
}

void Observation::Resume() {
  if (function->cpu) slice_ns = base::ThreadCpuNs();
}

void Observation::Suspend() {
  if (slice_ns >= 0) cpu_ns += base::ThreadCpuNs() - slice_ns;
  slice_ns = -1;
}

void Observation::Finish(base::AttemptState state) {
  if (finished) return;
  finished = true;
  Suspend();
  metrics::TaskMetrics* metrics = MetricsOf(function);
  if (metrics == nullptr) {
    PyErr_Clear();
    return;
  }
  Count(function, metrics, start_ns, function->cpu ? cpu_ns : -1, state);
}

PyObject* StartDirectStore(PyObject* /*module*/, PyObject* folder) {
  const char* text = PyUnicode_AsUTF8(folder);
  if (text == nullptr) return nullptr;
  app::SessionOptions options;
  options.run.kind = profile::RunKind::kRecording;
  options.run.executor = "inline";
  options.store_folder = text;
  options.needs_store = true;
  auto session = app::RunSession::Begin(std::move(options));
  if (!session.ok()) return RaiseStatus(session.status());
  PyObject* id = PyUnicode_FromString((*session)->run().id.ToString().c_str());
  Py_XDECREF(StopDirectStore(nullptr, nullptr));
  Direct().session = std::move(*session);
  ++Direct().serial;
  return id;
}

PyObject* StopDirectStore(PyObject* /*module*/, PyObject* /*unused*/) {
  auto session = std::move(Direct().session);
  if (session == nullptr) Py_RETURN_NONE;
  Status closed;
  WithoutGil([&] {
    closed = session->Close(base::RunState::kSuccess, "");
    session.reset();
  });
  if (!closed.ok()) return RaiseStatus(closed);
  Py_RETURN_NONE;
}

}  // namespace wf::bindings
