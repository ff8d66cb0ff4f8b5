#include "engine_binding.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "base/clock.h"
#include "engine.h"
#include "errors.h"
#include "interpreter_end.h"
#include "usage_dict.h"

namespace nb = nanobind;

namespace wf::bindings {
namespace {

void ThrowIf(const Status& status) {
  if (status.ok()) return;
  RaiseStatus(status);
  throw nb::python_error();
}

template <typename T>
T Get(const nb::dict& spec, const char* key, T fallback) {
  if (!spec.contains(key) || spec[key].is_none()) return fallback;
  return nb::cast<T>(spec[key]);
}

app::Mode ModeOf(const std::string& name) {
  if (name == "always") return app::Mode::kAlways;
  if (name == "sample") return app::Mode::kSample;
  if (name == "off") return app::Mode::kOff;
  throw nb::value_error(("mode must be always, sample or off, not " + name).c_str());
}

app::SessionOptions OptionsOf(const nb::dict& spec) {
  app::SessionOptions options;
  profile::Run& run = options.run;
  run.workflow = Get<std::string>(spec, "workflow", "");
  run.file = Get<std::string>(spec, "file", "");
  run.argv = Get<std::vector<std::string>>(spec, "argv", {});
  run.tags = Get<std::map<std::string, std::string>>(spec, "tags", {});
  run.params = Get<std::map<std::string, std::string>>(spec, "params", {});
  run.executor = Get<std::string>(spec, "executor", "threads");
  run.workers = Get<int>(spec, "workers", 1);
  run.mode = Get<std::string>(spec, "mode", "always");
  run.commit = Get<std::string>(spec, "commit", "");
  run.python = Get<std::string>(spec, "python", "");
  options.mode = ModeOf(run.mode);
  options.every = Get<int>(spec, "every", 10);
  options.mode_overrides = Get<bool>(spec, "mode_overrides", false);
  options.cpu = Get<bool>(spec, "cpu", true);
  options.cpu_overrides = Get<bool>(spec, "cpu_overrides", false);
  options.stored = spec.contains("store") && !spec["store"].is_none();
  options.store_folder = Get<std::string>(spec, "store", "");
  options.stack_rate_hz = Get<double>(spec, "stack_rate", 0);
  options.sampler = Get<std::string>(spec, "sampler", "");
  return options;
}

struct EngineHandle {
  Engine engine;
  explicit EngineHandle(const nb::dict& spec) : engine(OptionsOf(spec), Get<bool>(spec, "loop", false)) {}
};

double Seconds(const std::optional<double>& timeout) { return timeout.value_or(-1); }

bool Answer(int outcome) {
  if (outcome < 0) throw nb::python_error();
  return outcome > 0;
}

dag::Outcome OutcomeOf(const std::string& status) {
  static constexpr std::array<std::pair<std::string_view, dag::Outcome>, 5> kNames{{
      {"success", dag::Outcome::kSuccess},
      {"error", dag::Outcome::kError},
      {"timeout", dag::Outcome::kTimeout},
      {"cancelled", dag::Outcome::kCancelled},
      {"lost", dag::Outcome::kLost},
  }};
  for (const auto& [name, outcome] : kNames) {
    if (name == status) return outcome;
  }
  throw nb::value_error(("unknown status of an attempt: " + status).c_str());
}

base::RunState RunStateOf(const std::string& name) {
  const auto state = base::ParseRunState(name);
  if (!state || *state == base::RunState::kRunning) throw nb::value_error(("not an end of a run: " + name).c_str());
  return *state;
}

nb::dict Counts(EngineHandle& handle) {
  const auto counts = handle.engine.session().Counts();
  nb::dict dict;
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::string_view name = base::Name(static_cast<base::NodeState>(i));
    dict[nb::str(name.data(), name.size())] = counts[i];
  }
  return dict;
}

nb::object Take(EngineHandle& handle, double timeout, bool loop) {
  auto job = handle.engine.Take(timeout, loop);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (job == nullptr) return nb::none();
  return nb::cast(job.release(), nb::rv_policy::take_ownership);
}

void Finish(EngineHandle& handle, Job& job, const std::string& status, const nb::object& result,
            const nb::object& exception, const std::string& cause, const std::string& traceback,
            const nb::object& usage, int64_t start_ns, int64_t end_ns, int /*worker*/, uint32_t process, int32_t tid) {
  const dag::Outcome outcome = OutcomeOf(status);
  app::AttemptEnd end = cause.empty() && traceback.empty() && !exception.is_none()
                            ? DescribeError(exception.ptr(), outcome)
                            : app::AttemptEnd{outcome, cause, traceback};
  if (!job.remote) {
    handle.engine.Finish(job, outcome, result.ptr(), exception.ptr(), std::move(end), nullptr);
    return;
  }
  app::RemoteFigures figures;
  figures.start_ns = start_ns > 0 ? start_ns : job.open.start_ns;
  figures.end_ns = end_ns > 0 ? end_ns : base::MonotonicNs();
  figures.process = process;
  figures.tid = tid;
  if (!usage.is_none()) figures.usage = UsageFromDict(nb::cast<nb::dict>(usage));
  handle.engine.Finish(job, outcome, result.ptr(), exception.ptr(), std::move(end), &figures);
}

void PutLog(EngineHandle& handle, int stream, int level, std::string text, uint64_t attempt, int64_t time_ns) {
  profile::LogLine line;
  line.attempt = attempt != 0 || current.attempt == nullptr ? attempt : current.attempt->attempt;
  line.time_ns = time_ns != 0 ? time_ns : base::MonotonicNs();
  line.stream = static_cast<profile::Stream>(stream);
  line.level = level;
  line.text = std::move(text);
  handle.engine.session().AddLog(std::move(line));
}

void OnLost(EngineHandle& handle, nb::callable callback) {
  // The writer's thread calls it; the reference is kept for ever, there is one for each run.
  PyObject* kept = callback.release().ptr();
  handle.engine.session().SetOnStoreError([kept](const Status& status) {
    const PyGILState_STATE gil = InPython([] { return PyGILState_Ensure(); });
    PyObject* answer = InPython([&] { return PyObject_CallFunction(kept, "s", status.message().c_str()); });
    if (answer == nullptr) PyErr_WriteUnraisable(kept);
    Py_XDECREF(answer);
    PyGILState_Release(gil);
  });
}

void BindJob(nb::module_& module) {
  nb::class_<Job>(module, "Job", "A node that is ready, with its arguments, for an executor in Python.")
      .def_prop_ro("node", [](const Job& job) { return job.ready.node; })
      .def_prop_ro("number", [](const Job& job) { return job.ready.attempt; })
      .def_prop_ro("attempt", [](const Job& job) { return job.open.id; })
      .def_prop_ro("map_index", [](const Job& job) { return job.current.map_index; })
      .def_prop_ro("sampled", [](const Job& job) { return job.open.sampled; })
      .def_prop_ro("function", [](const Job& job) { return nb::borrow(reinterpret_cast<PyObject*>(job.function)); })
      .def_prop_ro("task", [](const Job& job) { return nb::borrow(job.function->name); })
      .def_prop_ro("args", [](const Job& job) { return nb::borrow(job.args); })
      .def_prop_ro("kwargs", [](const Job& job) { return nb::borrow(job.kwargs); })
      .def(
          "enter", [](Job& job) { job.outer = Switch({nullptr, &job.current}); },
          "This thread works for the attempt from now on.")
      .def("leave", [](Job& job) { Switch(job.outer); })
      .def("suspend",
           [](Job& job) {
             if (job.open.meter.open()) job.open.meter.Suspend();
           })
      .def("resume", [](Job& job) {
        if (job.open.meter.open()) job.open.meter.Resume();
      });
}

int TraverseHandle(PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(self));
#endif
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<EngineHandle>(self)->engine.Traverse(visit, arg);
}

int ClearHandle(PyObject* self) {
  nb::inst_ptr<EngineHandle>(self)->engine.Clear();
  return 0;
}

PyType_Slot handle_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(TraverseHandle)},
                              {Py_tp_clear, reinterpret_cast<void*>(ClearHandle)},
                              {0, nullptr}};

}  // namespace

void BindEngine(nb::module_& module) {
  BindJob(module);
  nb::class_<EngineHandle>(module, "Engine", nb::type_slots(handle_slots), "One run.")
      .def("__init__",
           [](nb::pointer_and_handle<EngineHandle> self, const nb::dict& spec) {
             new (self.p) EngineHandle(spec);
             self.p->engine.SetSelf(self.h.ptr());
             const Status status = self.p->engine.Begin();
             if (status.ok()) return;
             self.p->~EngineHandle();
             ThrowIf(status);
           })
      .def_prop_ro("run_id", [](EngineHandle& h) { return h.engine.run_id(); })
      .def_prop_ro("workflow", [](EngineHandle& h) { return h.engine.workflow(); })
      .def_prop_ro("mode", [](EngineHandle& h) { return h.engine.session().run().mode; })
      .def_prop_ro("store_folder", [](EngineHandle& h) { return h.engine.session().store_folder(); })
      .def_prop_ro("has_coroutines", [](EngineHandle& h) { return h.engine.has_coroutines(); })
      .def("enter_body", [](EngineHandle& h) { current.building = &h.engine; })
      .def("exit_body", [](EngineHandle&) { current.building = nullptr; })
      .def("set_inline", [](EngineHandle& h, bool on) { h.engine.SetInline(on); })
      .def(
          "set_loop", [](EngineHandle& h, bool on) { h.engine.SetLoopQueue(on); },
          "Coroutines made from now on wait for take(loop=True).")
      .def("start",
           [](EngineHandle& h) {
             if (!h.engine.StartRun()) throw nb::python_error();
           })
      .def(
          "body_ended", [](EngineHandle& h, bool success) { h.engine.BodyEnded(success); }, nb::arg("success") = true)
      .def("work", [](EngineHandle& h, int worker) { h.engine.Work(worker); })
      .def(
          "run_ready",
          [](EngineHandle& h, const nb::object& until, std::optional<double> timeout) {
            auto* future = until.is_none() ? nullptr : reinterpret_cast<FutureObject*>(until.ptr());
            return Answer(h.engine.RunReady(future, Seconds(timeout)));
          },
          nb::arg("until").none(), nb::arg("timeout").none())
      .def("take", Take, nb::arg("timeout"), nb::arg("loop") = false)
      .def(
          "begin",
          [](EngineHandle& h, Job& job, int worker, bool remote) { return h.engine.Begin(job, worker, remote); },
          nb::arg("job"), nb::arg("worker"), nb::arg("remote") = false)
      .def("finish", Finish, nb::arg("job"), nb::arg("status"), nb::arg("result").none() = nb::none(),
           nb::arg("exception").none() = nb::none(), nb::arg("cause") = "", nb::arg("traceback") = "",
           nb::arg("usage").none() = nb::none(), nb::arg("start_ns") = 0, nb::arg("end_ns") = 0, nb::arg("worker") = -1,
           nb::arg("process") = 1, nb::arg("tid") = 0)
      .def(
          "lost",
          [](EngineHandle& h, Job& job, bool innocent, const std::string& cause) {
            h.engine.Lost(job, innocent, cause);
          },
          nb::arg("job"), nb::arg("innocent"), nb::arg("cause"))
      .def("take_cancels", [](EngineHandle& h) { return h.engine.TakeCancels(); })
      .def(
          "wait",
          [](EngineHandle& h, std::optional<double> timeout) {
            return Answer(h.engine.WaitFor(nullptr, Seconds(timeout)));
          },
          nb::arg("timeout").none() = nb::none())
      .def("finished", [](EngineHandle& h) { return h.engine.session().Finished(); })
      .def("cancel", [](EngineHandle& h, const std::string& reason) { h.engine.Cancel(reason); })
      .def("cancel_reason", [](EngineHandle& h) { return h.engine.session().CancelReason(); })
      .def("counts", Counts)
      .def("explain", [](EngineHandle& h) { return h.engine.session().Explain(); })
      .def("check_progress", [](EngineHandle& h) { ThrowIf(h.engine.session().CheckProgress()); })
      .def("failures",
           [](EngineHandle& h) {
             PyObject* failures = h.engine.Failures();
             if (failures == nullptr) throw nb::python_error();
             return nb::steal(failures);
           })
      .def("put_log", PutLog, nb::arg("stream"), nb::arg("level"), nb::arg("text"), nb::arg("attempt") = 0,
           nb::arg("time_ns") = 0)
      .def("put_process",
           [](EngineHandle& h, int pid, const std::string& name) { return h.engine.session().AddProcess(pid, name); })
      .def("runs_in",
           [](EngineHandle& h, Job& job, int pid) {
             if (job.begun && !job.finished) h.engine.session().SetWorkerPid(&job.open, pid);
           })
      .def("end_process", [](EngineHandle&, int pid) { app::RunSession::RemoveProcess(pid); })
      .def("on_lost", OnLost)
      .def_prop_ro("sampler_pid", [](EngineHandle& h) { return h.engine.session().SamplerPid(); })
      .def_prop_ro("stacks_problem", [](EngineHandle& h) { return h.engine.session().StacksProblem().message(); })
      .def("flush", [](EngineHandle& h) { WithoutGil([&] { h.engine.session().Flush(); }); })
      .def("close", [](EngineHandle& h, const std::string& state, const std::string& cause) {
        ThrowIf(h.engine.Close(RunStateOf(state), cause));
      });
}

}  // namespace wf::bindings
