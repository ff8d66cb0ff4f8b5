#include "arguments.h"

#include "engine.h"
#include "future_type.h"
#include "hooks.h"

namespace wf::bindings {
namespace {

// Types that are never looked into, by far the most frequent ones.
bool IsPlain(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type || type == &PyBool_Type ||
         type == Py_TYPE(Py_None) || type == &PyBytes_Type;
}

// Dataclasses are made by a class statement, so their types are heap types.
PyObject* DataclassFields(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || PyType_Check(object)) return nullptr;
  static PyObject* const name = PyUnicode_InternFromString("__dataclass_fields__");
  PyObject* fields = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name);
  if (fields == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  if (PyDict_Check(fields)) return fields;
  Py_DECREF(fields);
  return nullptr;
}

int Merge(int a, int b) { return b < 0 ? -1 : (a | b); }

int FindInFields(PyObject* object, PyObject* fields, const Engine* engine, std::vector<uint32_t>* deps) {
  int found = 0;
  PyObject* name = nullptr;
  PyObject* field = nullptr;
  Py_ssize_t position = 0;
  while (found >= 0 && PyDict_Next(fields, &position, &name, &field)) {
    PyObject* value = PyObject_GetAttr(object, name);
    if (value == nullptr) {
      PyErr_Clear();  // a field without a value holds no future
      continue;
    }
    found = Merge(found, FindFutures(value, engine, deps));
    Py_DECREF(value);
  }
  return found;
}

int FindInside(PyObject* object, const Engine* engine, std::vector<uint32_t>* deps) {
  int found = 0;
  if (PyList_Check(object) || PyTuple_Check(object)) {
    for (Py_ssize_t i = 0; found >= 0 && i < PySequence_Fast_GET_SIZE(object); ++i) {
      found = Merge(found, FindFutures(PySequence_Fast_GET_ITEM(object, i), engine, deps));
    }
    return found;
  }
  if (PyDict_Check(object)) {
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (found >= 0 && PyDict_Next(object, &position, &key, &value)) {
      found = Merge(found, FindFutures(value, engine, deps));
    }
    return found;
  }
  if (PyAnySet_Check(object)) {
    PyObject* items = PySequence_List(object);
    if (items == nullptr) return -1;
    found = FindInside(items, engine, deps);
    Py_DECREF(items);
    return found;
  }
  PyObject* fields = DataclassFields(object);
  if (fields == nullptr) return 0;
  found = FindInFields(object, fields, engine, deps);
  Py_DECREF(fields);
  return found;
}

PyObject* ReplaceInTuple(PyObject* tuple) {
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  PyObject* copy = PyTuple_New(size);
  if (copy == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* value = ReplaceFutures(PyTuple_GET_ITEM(tuple, i));
    if (value == nullptr) {
      Py_DECREF(copy);
      return nullptr;
    }
    PyTuple_SET_ITEM(copy, i, value);
  }
  if (PyTuple_CheckExact(tuple)) return copy;
  // A named tuple is made again by its own class.
  PyObject* made = PyObject_CallMethod(reinterpret_cast<PyObject*>(Py_TYPE(tuple)), "_make", "(O)", copy);
  if (made == nullptr) {
    PyErr_Clear();
    return copy;
  }
  Py_DECREF(copy);
  return made;
}

PyObject* ReplaceInList(PyObject* list) {
  const Py_ssize_t size = PyList_GET_SIZE(list);
  PyObject* copy = PyList_New(size);
  if (copy == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* value = ReplaceFutures(PyList_GET_ITEM(list, i));
    if (value == nullptr) {
      Py_DECREF(copy);
      return nullptr;
    }
    PyList_SET_ITEM(copy, i, value);
  }
  return copy;
}

PyObject* ReplaceInDict(PyObject* dict) {
  PyObject* copy = PyDict_CheckExact(dict) ? PyDict_Copy(dict) : PyObject_CallMethod(dict, "copy", nullptr);
  if (copy == nullptr) return nullptr;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value)) {
    PyObject* replaced = ReplaceFutures(value);
    if (replaced == nullptr || (replaced != value && PyObject_SetItem(copy, key, replaced) < 0)) {
      Py_XDECREF(replaced);
      Py_DECREF(copy);
      return nullptr;
    }
    Py_DECREF(replaced);
  }
  return copy;
}

PyObject* ReplaceInSet(PyObject* set) {
  PyObject* items = PySequence_List(set);
  if (items == nullptr) return nullptr;
  PyObject* replaced = ReplaceInList(items);
  Py_DECREF(items);
  if (replaced == nullptr) return nullptr;
  PyObject* copy = PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(set)), replaced);
  Py_DECREF(replaced);
  return copy;
}

PyObject* ReplaceInFields(PyObject* object, PyObject* fields) {
  PyObject* changed = PyDict_New();
  PyObject *name = nullptr, *field = nullptr;
  Py_ssize_t position = 0;
  while (changed != nullptr && PyDict_Next(fields, &position, &name, &field)) {
    PyObject* value = PyObject_GetAttr(object, name);
    if (value == nullptr) {
      PyErr_Clear();
      continue;
    }
    PyObject* replaced = ReplaceFutures(value);
    Py_DECREF(value);
    if (replaced == nullptr || (replaced != value && PyDict_SetItem(changed, name, replaced) < 0)) Py_CLEAR(changed);
    Py_XDECREF(replaced);
  }
  if (changed == nullptr) return nullptr;
  Py_INCREF(object);
  return CallHook(GetHooks().copy_dataclass, "copy_dataclass", {object, changed});
}

}  // namespace

int FindFutures(PyObject* object, const Engine* engine, std::vector<uint32_t>* deps) {
  if (IsPlain(object)) return 0;
  if (IsFuture(object)) {
    auto* future = reinterpret_cast<FutureObject*>(object);
    if (engine != nullptr && future->engine != engine) {
      PyErr_Format(PyExc_ValueError, "%R belongs to another run; take its value with .result() and pass that", object);
      return -1;
    }
    deps->push_back(future->node);
    return 1;
  }
  if (Py_EnterRecursiveCall(" while looking for futures in the arguments of a task")) return -1;
  const int found = FindInside(object, engine, deps);
  Py_LeaveRecursiveCall();
  return found;
}

PyObject* ReplaceFutures(PyObject* object) {
  if (IsFuture(object)) return FutureValue(reinterpret_cast<FutureObject*>(object));
  std::vector<uint32_t> found;
  const int any = IsPlain(object) ? 0 : FindFutures(object, nullptr, &found);
  if (any <= 0) {
    if (any < 0) return nullptr;
    Py_INCREF(object);
    return object;
  }
  if (PyTuple_Check(object)) return ReplaceInTuple(object);
  if (PyList_Check(object)) return ReplaceInList(object);
  if (PyDict_Check(object)) return ReplaceInDict(object);
  if (PyAnySet_Check(object)) return ReplaceInSet(object);
  PyObject* fields = DataclassFields(object);
  if (fields == nullptr) return nullptr;
  PyObject* copy = ReplaceInFields(object, fields);
  Py_DECREF(fields);
  return copy;
}

}  // namespace wf::bindings
