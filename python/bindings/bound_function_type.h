// BoundFunction: what `instance.method` is when `method` is a Function of ours. A bound method that also binds the
// attributes of Function which make calls: `instance.method.map(…)` calls with the instance first (workflow/_native.py
// adds them).
#ifndef WF_BINDINGS_BOUND_FUNCTION_TYPE_H_
#define WF_BINDINGS_BOUND_FUNCTION_TYPE_H_

#include <Python.h>

namespace wf::bindings {

int InitBoundFunctionType(PyObject* module);
// A new reference, or nullptr with MemoryError set.
PyObject* NewBoundFunction(PyObject* function, PyObject* instance);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_BOUND_FUNCTION_TYPE_H_
