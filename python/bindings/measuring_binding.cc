// Observation, the readings of worker processes, and what the current thread is doing.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "app/sampler_process.h"
#include "base/clock.h"
#include "current.h"
#include "direct_call.h"
#include "engine_binding.h"
#include "errors.h"
#include "probe/attempt_meter.h"
#include "usage_dict.h"

namespace nb = nanobind;

namespace wf::bindings {
namespace {

// An attempt that runs in this worker process for a run owned elsewhere.
struct RemoteAttempt {
  std::string run_id;
  std::string workflow;
  nb::object task;
  CurrentAttempt attempt;
  ThreadState outer;
  probe::AttemptMeter meter;
  int64_t start_ns = 0;
};

nb::object CurrentAttemptTuple() {
  const CurrentAttempt* attempt = current.attempt;
  if (attempt == nullptr) return nb::none();
  return nb::make_tuple(*attempt->run_id, attempt->node, attempt->attempt, attempt->number, nb::borrow(attempt->task));
}

base::AttemptState StateNamed(const std::string& name) {
  if (name == "success") return base::AttemptState::kSuccess;
  if (name == "cancelled") return base::AttemptState::kCancelled;
  if (name == "timeout") return base::AttemptState::kTimeout;
  return base::AttemptState::kError;
}

void BindRemoteAttempt(nb::module_& module) {
  nb::class_<RemoteAttempt>(module, "RemoteAttempt", "Measures one attempt in a worker process, exactly.")
      .def(
          "__init__",
          [](RemoteAttempt* self, const std::string& run_id, const std::string& workflow, const nb::str& task,
             uint32_t node, uint64_t attempt, uint32_t number, int map_index, bool sampled) {
            new (self) RemoteAttempt;
            self->run_id = run_id;
            self->workflow = workflow;
            self->task = task;
            CurrentAttempt& current_attempt = self->attempt;
            current_attempt.workflow = &self->workflow;
            current_attempt.run_id = &self->run_id;
            current_attempt.task = task.ptr();
            current_attempt.node = node;
            current_attempt.number = number;
            current_attempt.attempt = attempt;
            current_attempt.map_index = map_index;
            const auto run = base::RunId::Parse(run_id);
            current_attempt.position = {run.value_or(base::RunId{}),        attempt, node, 0, sampled,
                                        context::NumberOfName(task.c_str())};
          },
          nb::arg("run_id"), nb::arg("workflow"), nb::arg("task"), nb::arg("node"), nb::arg("attempt"),
          nb::arg("number"), nb::arg("map_index"), nb::arg("sampled") = true)
      .def("begin",
           [](RemoteAttempt& self) {
             self.outer = Switch({nullptr, &self.attempt});
             self.meter.Begin(probe::Depth::kAlways);
           })
      .def(
          "end",
          [](RemoteAttempt& self) {
            const probe::AttemptCost cost = self.meter.End();
            Switch(self.outer);
            return nb::make_tuple(cost.start_ns, cost.end_ns, UsageToDict(cost.usage));
          },
          "-> (start_ns, end_ns, usage)")
      .def("enter", [](RemoteAttempt& self) { self.outer = Switch({nullptr, &self.attempt}); })
      .def("leave", [](RemoteAttempt& self) { Switch(self.outer); });
}

}  // namespace

void BindMeasuring(nb::module_& module) {
  BindRemoteAttempt(module);
  nb::class_<Observation>(module, "Observation", "One call whose work comes in pieces: coroutine or generator.")
      .def("__init__",
           [](Observation* self, const nb::object& function) {
             if (!IsFunction(function.ptr())) throw nb::type_error("Observation needs a Function");
             new (self) Observation(reinterpret_cast<FunctionObject*>(function.ptr()));
           })
      .def("resume", &Observation::Resume)
      .def("suspend", &Observation::Suspend)
      .def("finish", [](Observation& self, const std::string& status) { self.Finish(StateNamed(status)); });
  module.def("current_attempt", CurrentAttemptTuple,
             "(run id, node, attempt, number, task) of what this thread runs, else None");
  module.def(
      "let_sample",
      [](int32_t sampler) {
        (void)context::Current();  // makes the page, so that it is found at once
        app::AllowTracer(sampler);
      },
      nb::arg("sampler"), "This process may be read by the run's sampler, a process id.");
  module.def("monotonic_ns", &base::MonotonicNs);
  module.def("thread_cpu_ns", &base::ThreadCpuNs);
  module.def("start_direct_store", [](const nb::str& folder) {
    PyObject* id = StartDirectStore(nullptr, folder.ptr());
    if (id == nullptr) throw nb::python_error();
    return nb::steal(id);
  });
  module.def("stop_direct_store", [] {
    PyObject* none = StopDirectStore(nullptr, nullptr);
    if (none == nullptr) throw nb::python_error();
    return nb::steal(none);
  });
}

}  // namespace wf::bindings
