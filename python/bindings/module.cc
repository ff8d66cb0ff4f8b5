// The extension module workflow._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "base/version.h"

NB_MODULE(_core, module) {
  module.doc() = "Native core of the package workflow; use it through the package.";
  module.def("version", &wf::Version, "The version of the core, such as 6.0.0.");
}
