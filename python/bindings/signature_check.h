// Does a call fit the function's signature? Asked when a node is made, so that a wrong call fails on its own line and
// not later in a worker.
#ifndef WF_BINDINGS_SIGNATURE_CHECK_H_
#define WF_BINDINGS_SIGNATURE_CHECK_H_

#include "function_type.h"

namespace wf::bindings {

// `args`: tuple of positional values, then those of `kwnames` (tuple of str, or null). False with an error set by the
// hook bad_call. Callables other than plain Python functions, and those that take anything, are not checked here.
bool CheckCall(FunctionObject* function, PyObject* args, PyObject* kwnames);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_SIGNATURE_CHECK_H_
