#include "bound_function_type.h"

#include <structmember.h>

#include <array>
#include <string_view>

#include "raw_type.h"

namespace wf::bindings {
namespace {

// Python's own bound method does the work; its attributes cannot be bound, so it lies inside.
struct BoundFunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* method;
  PyObject* weakrefs;
};

PyTypeObject* BoundFunctionType = nullptr;

}  // namespace

template <>
constexpr std::array kOwned<BoundFunctionObject> = {&BoundFunctionObject::method};

namespace {

PyObject* MethodOf(PyObject* self) { return reinterpret_cast<BoundFunctionObject*>(self)->method; }

PyObject* Call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return PyObject_Vectorcall(MethodOf(self), args, nargsf, kwnames);
}

// To the rest of the world it is a method: __class__ too, so that inspect.ismethod and isinstance say so.
PyObject* GetAttr(PyObject* self, PyObject* name) {
  static constexpr std::array<const char*, 3> kOfTheMethod{"__class__", "__doc__", "__module__"};
  for (const char* one : kOfTheMethod) {
    if (PyUnicode_CompareWithASCIIString(name, one) == 0) return PyObject_GetAttr(MethodOf(self), name);
  }
  PyObject* value = PyObject_GenericGetAttr(self, name);
  if (value != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError) || MethodOf(self) == nullptr) return value;
  PyErr_Clear();
  return PyObject_GetAttr(MethodOf(self), name);
}

PyObject* Repr(PyObject* self) { return PyObject_Repr(MethodOf(self)); }

Py_hash_t Hash(PyObject* self) { return PyObject_Hash(MethodOf(self)); }

PyObject* Compare(PyObject* self, PyObject* other, int operation) {
  PyObject* method = Py_TYPE(other) == BoundFunctionType ? MethodOf(other) : other;
  return PyObject_RichCompare(MethodOf(self), method, operation);
}

PyObject* Reduce(PyObject* self, PyObject* /*unused*/) {
  return PyObject_CallMethod(MethodOf(self), "__reduce__", nullptr);
}

// The user's function bound to the instance, for those who follow __wrapped__.
PyObject* GetWrapped(PyObject* self, void* /*closure*/) {
  PyObject* wrapped = PyObject_GetAttrString(PyMethod_GET_FUNCTION(MethodOf(self)), "__wrapped__");
  if (wrapped == nullptr) return nullptr;
  PyObject* bound = PyMethod_New(wrapped, PyMethod_GET_SELF(MethodOf(self)));
  Py_DECREF(wrapped);
  return bound;
}

PyMethodDef kMethods[] = {
    {"__reduce__", Reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef kGetSet[] = {
    {"__wrapped__", GetWrapped, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundFunctionObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(BoundFunctionObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot kSlots[] = {
    {Py_tp_dealloc, Slot(Dealloc<BoundFunctionObject>)},
    {Py_tp_traverse, Slot(Traverse<BoundFunctionObject>)},
    {Py_tp_clear, Slot(Clear<BoundFunctionObject>)},
    {Py_tp_call, Slot(PyVectorcall_Call)},
    {Py_tp_getattro, Slot(GetAttr)},
    {Py_tp_repr, Slot(Repr)},
    {Py_tp_hash, Slot(Hash)},
    {Py_tp_richcompare, Slot(Compare)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kGetSet},
    {Py_tp_members, kMembers},
    {0, nullptr},
};

PyType_Spec kSpec = {
    "workflow._core.BoundFunction", sizeof(BoundFunctionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

}  // namespace

int InitBoundFunctionType(PyObject* module) {
  BoundFunctionType = AddType(module, &kSpec);
  return BoundFunctionType == nullptr ? -1 : 0;
}

PyObject* NewBoundFunction(PyObject* function, PyObject* instance) {
  PyObject* method = PyMethod_New(function, instance);
  if (method == nullptr) return nullptr;
  auto* bound = PyObject_GC_New(BoundFunctionObject, BoundFunctionType);
  if (bound == nullptr) {
    Py_DECREF(method);
    return nullptr;
  }
  bound->vectorcall = Call;
  bound->method = method;
  bound->weakrefs = nullptr;
  PyObject_GC_Track(reinterpret_cast<PyObject*>(bound));
  return reinterpret_cast<PyObject*>(bound);
}

}  // namespace wf::bindings
