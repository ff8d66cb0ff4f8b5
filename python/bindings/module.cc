// The extension module workflow._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <exception>

#include "base/version.h"
#include "bound_function_type.h"
#include "context/thread_slot.h"
#include "engine_binding.h"
#include "errors.h"
#include "function_type.h"
#include "future_type.h"
#include "hooks.h"
#include "interpreter_end.h"
#include "metrics_types.h"

namespace {

PyMethodDef raw_functions[] = {
    {"set_hooks", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(wf::bindings::SetHooks)),
     METH_VARARGS | METH_KEYWORDS, "What the native layer asks of Python; see hooks.h."},
    {"set_error_types", wf::bindings::SetErrorTypes, METH_O, "{name of a status code: exception type}"},
    {nullptr, nullptr, 0, nullptr},
};

// The last net, for the GIL asked for elsewhere, in a destructor say: with no exception at hand, what nanobind caught
// is the unwinding of a thread that CPython ends.
void KeepEndingThread(const std::exception_ptr& error, void* /*payload*/) {
  if (error == nullptr) wf::bindings::StayUntilExit();
  std::rethrow_exception(error);
}

}  // namespace

NB_MODULE(_core, module) {
  nanobind::register_exception_translator(KeepEndingThread);
  nanobind::set_leak_warnings(false);  // a program may well end with a run in a global variable
  module.doc() = "Native core of the package workflow; use it through the package.";
  module.def("version", &wf::Version, "The version of the core, such as 6.0.0.");
  if (wf::bindings::InitFutureType(module.ptr()) < 0 || wf::bindings::InitFunctionType(module.ptr()) < 0 ||
      wf::bindings::InitBoundFunctionType(module.ptr()) < 0 || wf::bindings::InitMetricTypes(module.ptr()) < 0 ||
      PyModule_AddFunctions(module.ptr(), raw_functions) < 0) {
    throw nanobind::python_error();
  }
  // So that a sampler finds the page before there is anything on it.
  (void)wf::context::Current();
  wf::bindings::BindEngine(module);
  wf::bindings::BindMeasuring(module);
  wf::bindings::BindDelta(module);
  wf::bindings::BindMetrics(module.ptr());
}
