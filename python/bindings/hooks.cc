#include "hooks.h"

#include <array>
#include <cstring>

#include "interpreter_end.h"

namespace wf::bindings {
namespace {

struct Slot {
  const char* name;
  PyObject* Hooks::* member;
};

constexpr std::array<Slot, 11> kSlots{{
    {"bad_call", &Hooks::bad_call},
    {"describe", &Hooks::describe},
    {"run_coroutine", &Hooks::run_coroutine},
    {"collect_asyncgen", &Hooks::collect_asyncgen},
    {"wrap_stream", &Hooks::wrap_stream},
    {"format_error", &Hooks::format_error},
    {"skipped_error", &Hooks::skipped_error},
    {"cancelled_error", &Hooks::cancelled_error},
    {"copy_dataclass", &Hooks::copy_dataclass},
    {"awaited", &Hooks::awaited},
    {"is_interrupt", &Hooks::is_interrupt},
}};

}  // namespace

Hooks& GetHooks() {
  static Hooks hooks;
  return hooks;
}

PyObject* SetHooks(PyObject* /*module*/, PyObject* /*args*/, PyObject* kwargs) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &position, &key, &value)) {
    const char* name = PyUnicode_AsUTF8(key);
    if (name == nullptr) return nullptr;
    bool known = false;
    for (const Slot& slot : kSlots) {
      if (std::strcmp(slot.name, name) != 0) continue;
      PyObject* old = GetHooks().*slot.member;
      Py_INCREF(value);
      GetHooks().*slot.member = value;
      Py_XDECREF(old);
      known = true;
    }
    if (!known) return PyErr_Format(PyExc_TypeError, "set_hooks: unknown hook %R", key);
  }
  Py_RETURN_NONE;
}

PyObject* CallHook(PyObject* hook, const char* name, std::initializer_list<PyObject*> args) {
  PyObject* result = nullptr;
  bool complete = true;
  for (PyObject* arg : args) complete = complete && arg != nullptr;
  if (hook == nullptr) {
    PyErr_Format(PyExc_RuntimeError, "workflow._core: the hook %s is not set; import workflow, not workflow._core",
                 name);
  } else if (complete) {
    result = InPython([&] { return PyObject_Vectorcall(hook, args.begin(), args.size(), nullptr); });
  }
  for (PyObject* arg : args) Py_XDECREF(arg);
  return result;
}

}  // namespace wf::bindings
