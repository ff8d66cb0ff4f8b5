// The one translation of Status into Python exceptions.
#ifndef WF_BINDINGS_ERRORS_H_
#define WF_BINDINGS_ERRORS_H_

#include <Python.h>

#include "wf/status.h"

namespace wf::bindings {

// set_error_types({code name: exception type}): the package's own hierarchy; before it, built-in types are raised.
PyObject* SetErrorTypes(PyObject* module, PyObject* types);

// Sets the exception for `status` and returns nullptr. REQUIRES: !status.ok().
PyObject* RaiseStatus(const Status& status);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_ERRORS_H_
