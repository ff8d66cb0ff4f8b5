#include "function_type.h"

#include <structmember.h>

#include <array>
#include <cstring>
#include <string_view>

#include "bound_function_type.h"
#include "current.h"
#include "direct_call.h"
#include "engine.h"
#include "raw_type.h"

namespace wf::bindings {

PyTypeObject* FunctionType = nullptr;

template <>
constexpr std::array kOwned<FunctionObject> = {&FunctionObject::func, &FunctionObject::name, &FunctionObject::dict};

namespace {

constexpr std::array<std::string_view, 4> kKindNames{"function", "coroutine", "generator", "asyncgen"};
constexpr std::array<std::string_view, 4> kModeNames{"", "off", "always", "sample"};

FunctionObject* Cast(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

PyObject* Call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  FunctionObject* function = Cast(self);
  if (function->task && current.building != nullptr) {
    return current.building->AddCall(function, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), kwnames);
  }
  if (!function->observed || function->mode == FunctionMode::kOff) {
    return PyObject_Vectorcall(function->func, args, nargsf, kwnames);
  }
  return CallMeasured(function, args, nargsf, kwnames);
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"func", "name", "kind", "task", "signature_ok", nullptr};
  PyObject *func = nullptr, *name = nullptr;
  const char* kind = "function";
  int task = 0;
  int signature_ok = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OU|$spp", const_cast<char**>(names), &func, &name, &kind, &task,
                                   &signature_ok)) {
    return nullptr;
  }
  size_t which = 0;
  while (which < kKindNames.size() && kKindNames[which] != kind) ++which;
  if (which == kKindNames.size()) return PyErr_Format(PyExc_ValueError, "unknown kind of function: %s", kind);
  auto* self = Cast(type->tp_alloc(type, 0));
  if (self == nullptr) return nullptr;
  self->vectorcall = Call;
  Py_INCREF(func);
  self->func = func;
  Py_INCREF(name);
  self->name = name;
  self->kind = static_cast<FunctionKind>(which);
  self->mode = FunctionMode::kInherit;
  self->task = static_cast<char>(task);
  self->cpu = 1;
  self->observed = 1;
  self->after_keyword = 1;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* DescrGet(PyObject* self, PyObject* object, PyObject* /*type*/) {
  if (object == nullptr || object == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return NewBoundFunction(self, object);
}

// What is not ours is the user's function's: __code__, __defaults__, __globals__, attributes that others set on it.
PyObject* GetAttr(PyObject* self, PyObject* name) {
  PyObject* value = PyObject_GenericGetAttr(self, name);
  if (value != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError) || Cast(self)->func == nullptr) return value;
  PyErr_Clear();
  return PyObject_GetAttr(Cast(self)->func, name);
}

PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("<%s %R of %R>", Cast(self)->task ? "task" : "profiled function", Cast(self)->name,
                              Cast(self)->func);
}

PyObject* Reduce(PyObject* self, PyObject* /*unused*/) { return PyObject_GetAttrString(self, "__qualname__"); }

PyObject* Same(PyObject* self, PyObject* /*unused*/) {
  Py_INCREF(self);
  return self;
}

// call_user(args, kwargs)
PyObject* CallUser(PyObject* self, PyObject* args) {
  PyObject *call_args = nullptr, *call_kwargs = nullptr;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &call_args, &call_kwargs)) return nullptr;
  return PyObject_Call(Cast(self)->func, call_args, call_kwargs == Py_None ? nullptr : call_kwargs);
}

// submit(args, kwargs, map_index, after)
PyObject* Submit(PyObject* self, PyObject* args) {
  PyObject *call_args = nullptr, *call_kwargs = nullptr, *after = nullptr;
  int map_index = -1;
  if (!PyArg_ParseTuple(args, "O!OiO", &PyTuple_Type, &call_args, &call_kwargs, &map_index, &after)) return nullptr;
  if (current.building == nullptr) {
    return PyErr_Format(PyExc_RuntimeError, "%R can become a node only while a workflow's body runs", self);
  }
  return current.building->AddNode(Cast(self), call_args, call_kwargs == Py_None ? nullptr : call_kwargs, map_index,
                                   after == Py_None ? nullptr : after);
}

PyObject* ToStr(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* GetKind(PyObject* self, void* /*closure*/) {
  return ToStr(kKindNames[static_cast<size_t>(Cast(self)->kind)]);
}

PyObject* GetMode(PyObject* self, void* /*closure*/) {
  if (Cast(self)->mode == FunctionMode::kInherit) Py_RETURN_NONE;
  return ToStr(kModeNames[static_cast<size_t>(Cast(self)->mode)]);
}

int SetMode(PyObject* self, PyObject* value, void* /*closure*/) {
  if (value == nullptr || value == Py_None) {
    Cast(self)->mode = FunctionMode::kInherit;
    return 0;
  }
  const char* text = PyUnicode_AsUTF8(value);
  if (text == nullptr) return -1;
  for (size_t i = 1; i < kModeNames.size(); ++i) {
    if (kModeNames[i] != text) continue;
    Cast(self)->mode = static_cast<FunctionMode>(i);
    return 0;
  }
  PyErr_Format(PyExc_ValueError, "mode must be \"always\", \"sample\" or \"off\", not %R", value);
  return -1;
}

PyMethodDef kMethods[] = {
    {"submit", Submit, METH_VARARGS, "submit(args, kwargs, map_index, after) -> Future"},
    {"call_user", CallUser, METH_VARARGS, "call_user(args, kwargs): call the user's function, unmeasured."},
    {"__reduce__", Reduce, METH_NOARGS, nullptr},
    {"__copy__", Same, METH_NOARGS, nullptr},
    {"__deepcopy__", Same, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef kGetSet[] = {
    {"kind", GetKind, nullptr, "function, coroutine, generator or asyncgen", nullptr},
    {"mode", GetMode, SetMode, "always, sample, off; None: as the run", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"name", T_OBJECT, offsetof(FunctionObject, name), READONLY, "name of the task"},
    {"task", T_BOOL, offsetof(FunctionObject, task), 0, "a call in a workflow's body makes a node"},
    {"cpu", T_BOOL, offsetof(FunctionObject, cpu), 0, "direct calls measure CPU time too"},
    {"cpu_is_set", T_BOOL, offsetof(FunctionObject, cpu_is_set), 0, "False: in a run, cpu is as the run has it"},
    {"observed", T_BOOL, offsetof(FunctionObject, observed), 0, "False: another Function outside observes the calls"},
    {"after_keyword", T_BOOL, offsetof(FunctionObject, after_keyword), 0, "after= on a call means edges without data"},
    {"every", T_INT, offsetof(FunctionObject, every), 0, "mode sample: 1 in this many; 0: as the run"},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot kSlots[] = {
    {Py_tp_new, Slot(New)},
    {Py_tp_dealloc, Slot(Dealloc<FunctionObject>)},
    {Py_tp_traverse, Slot(Traverse<FunctionObject>)},
    {Py_tp_clear, Slot(Clear<FunctionObject>)},
    {Py_tp_call, Slot(PyVectorcall_Call)},
    {Py_tp_descr_get, Slot(DescrGet)},
    {Py_tp_getattro, Slot(GetAttr)},
    {Py_tp_repr, Slot(Repr)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kGetSet},
    {Py_tp_members, kMembers},
    {Py_tp_doc, const_cast<char*>("A function that is a task or is profiled.")},
    {0, nullptr},
};

PyType_Spec kSpec = {
    "workflow._core.Function", sizeof(FunctionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, kSlots};

}  // namespace

int InitFunctionType(PyObject* module) {
  FunctionType = AddType(module, &kSpec);
  return FunctionType == nullptr ? -1 : 0;
}

}  // namespace wf::bindings
