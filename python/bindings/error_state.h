// The error indicator of the thread as one object, the same on every Python version.
#ifndef WF_BINDINGS_ERROR_STATE_H_
#define WF_BINDINGS_ERROR_STATE_H_

#include <Python.h>

namespace wf::bindings {

// Takes the current exception away, as a new reference with its traceback set. nullptr when there is none.
inline PyObject* TakeError() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);
  if (type == nullptr) return nullptr;
  PyErr_NormalizeException(&type, &error, &trace);
  if (trace != nullptr) PyException_SetTraceback(error, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return error;
#endif
}

// Raises `error`, with the traceback it carries; steals the reference. nullptr: clears.
inline void RestoreError(PyObject* error) {
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(error);
#else
  if (error == nullptr) {
    PyErr_Clear();
    return;
  }
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(error));
  Py_INCREF(type);
  PyErr_Restore(type, error, PyException_GetTraceback(error));
#endif
}

}  // namespace wf::bindings

#endif  // WF_BINDINGS_ERROR_STATE_H_
