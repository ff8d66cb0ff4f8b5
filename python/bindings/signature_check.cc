#include "signature_check.h"

#include "hooks.h"

namespace wf::bindings {
namespace {

PyObject* VarNames(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyCode_GetVarnames(code);
#else
  Py_INCREF(code->co_varnames);
  return code->co_varnames;
#endif
}

bool HasName(PyObject* kwnames, PyObject* name) {
  for (Py_ssize_t i = 0; kwnames != nullptr && i < PyTuple_GET_SIZE(kwnames); ++i) {
    if (PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, i), name) == 0) return true;
  }
  return false;
}

// Every keyword names a parameter that no positional value has; every parameter without a default has a value.
bool KeywordsFit(PyObject* func, PyCodeObject* code, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* names = VarNames(code);
  if (names == nullptr) return false;
  PyObject* defaults = PyFunction_GET_DEFAULTS(func);
  PyObject* kwdefaults = PyFunction_GET_KW_DEFAULTS(func);
  const Py_ssize_t with_default = defaults == nullptr ? 0 : PyTuple_GET_SIZE(defaults);
  const Py_ssize_t all = code->co_argcount + code->co_kwonlyargcount;
  Py_ssize_t used = 0;
  bool fits = true;
  for (Py_ssize_t i = 0; fits && i < all; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const bool positional = i < nargs;
    const bool named = i >= code->co_posonlyargcount && HasName(kwnames, name);
    used += named ? 1 : 0;
    const bool optional = i < code->co_argcount ? i >= code->co_argcount - with_default
                                                : kwdefaults != nullptr && PyDict_Contains(kwdefaults, name) == 1;
    fits = !(positional && named) && (positional || named || optional);
  }
  Py_DECREF(names);
  return fits && used == (kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames));
}

bool Fits(PyObject* func, Py_ssize_t nargs, PyObject* kwnames) {
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(func));
  if ((code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) != 0) return true;
  if (nargs > code->co_argcount) return false;
  if (kwnames == nullptr && nargs == code->co_argcount && code->co_kwonlyargcount == 0) return true;
  return KeywordsFit(func, code, nargs, kwnames);
}

}  // namespace

bool CheckCall(FunctionObject* function, PyObject* args, PyObject* kwnames) {
  if (!PyFunction_Check(function->func)) return true;
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  const Py_ssize_t nargs = PyTuple_GET_SIZE(args) - keywords;
  if (Fits(function->func, nargs, kwnames)) return true;
  PyObject* kwargs = PyDict_New();
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyDict_SetItem(kwargs, PyTuple_GET_ITEM(kwnames, i), PyTuple_GET_ITEM(args, nargs + i));
  }
  auto* self = reinterpret_cast<PyObject*>(function);
  Py_INCREF(self);
  PyObject* answer = CallHook(GetHooks().bad_call, "bad_call", {self, PyTuple_GetSlice(args, 0, nargs), kwargs});
  if (answer == nullptr) return false;
  Py_DECREF(answer);  // the hook found nothing wrong with it
  return true;
}

}  // namespace wf::bindings
