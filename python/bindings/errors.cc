#include "errors.h"

#include <string>

namespace wf::bindings {
namespace {

PyObject* types_by_code = nullptr;

PyObject* BuiltIn(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return PyExc_ValueError;
    case Code::kNotFound: return PyExc_LookupError;
    case Code::kAlreadyExists: return PyExc_ValueError;
    case Code::kPermissionDenied: return PyExc_PermissionError;
    case Code::kIo: return PyExc_OSError;
    case Code::kTimeout: return PyExc_TimeoutError;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

PyObject* SetErrorTypes(PyObject* /*module*/, PyObject* types) {
  if (!PyDict_Check(types)) return PyErr_Format(PyExc_TypeError, "set_error_types needs a dict");
  Py_INCREF(types);
  Py_XDECREF(types_by_code);
  types_by_code = types;
  Py_RETURN_NONE;
}

PyObject* RaiseStatus(const Status& status) {
  PyObject* type = nullptr;
  if (types_by_code != nullptr) {
    type = PyDict_GetItemString(types_by_code, std::string(CodeName(status.code())).c_str());
  }
  PyErr_SetString(type != nullptr ? type : BuiltIn(status.code()), status.message().c_str());
  return nullptr;
}

}  // namespace wf::bindings
