// The extension module workflow._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "base/version.h"
#include "bound_function_type.h"
#include "engine_binding.h"
#include "errors.h"
#include "function_type.h"
#include "future_type.h"
#include "hooks.h"
#include "metrics_types.h"

namespace {

PyMethodDef raw_functions[] = {
    {"set_hooks", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(wf::bindings::SetHooks)),
     METH_VARARGS | METH_KEYWORDS, "What the native layer asks of Python; see hooks.h."},
    {"set_error_types", wf::bindings::SetErrorTypes, METH_O, "{name of a status code: exception type}"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // a program may well end with a run in a global variable
  module.doc() = "Native core of the package workflow; use it through the package.";
  module.def("version", &wf::Version, "The version of the core, such as 6.0.0.");
  if (wf::bindings::InitFutureType(module.ptr()) < 0 || wf::bindings::InitFunctionType(module.ptr()) < 0 ||
      wf::bindings::InitBoundFunctionType(module.ptr()) < 0 || wf::bindings::InitMetricTypes(module.ptr()) < 0 ||
      PyModule_AddFunctions(module.ptr(), raw_functions) < 0) {
    throw nanobind::python_error();
  }
  wf::bindings::BindEngine(module);
  wf::bindings::BindMeasuring(module);
  wf::bindings::BindDelta(module);
  wf::bindings::BindMetrics(module.ptr());
}
