#include "task_description.h"

#include <array>

#include "hooks.h"

namespace wf::bindings {

bool DescribeTask(FunctionObject* function, profile::Task* task) {
  static constexpr std::array<const char*, 4> kKinds{"function", "coroutine", "generator", "asyncgen"};
  const char* name = PyUnicode_AsUTF8(function->name);
  if (name == nullptr) return false;
  auto* self = reinterpret_cast<PyObject*>(function);
  Py_INCREF(self);
  PyObject* described = CallHook(GetHooks().describe, "describe", {self});
  if (described == nullptr) return false;
  const char *qualname = nullptr, *file = nullptr;
  int line = 0;
  const bool ok = PyArg_ParseTuple(described, "ssi", &qualname, &file, &line) != 0;
  if (ok) {
    task->name = name;
    task->qualname = qualname;
    task->file = file;
    task->line = line;
    task->kind = kKinds[static_cast<size_t>(function->kind)];
  }
  Py_DECREF(described);
  return ok;
}

}  // namespace wf::bindings
