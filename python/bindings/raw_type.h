// What our raw types have in common: the garbage collector's slots, made from the list of references that an object
// owns, and the way into the module.
//
//   struct ThingObject { PyObject_HEAD PyObject* value; PyObject* weakrefs; };
//   template <> constexpr std::array kOwned<ThingObject> = {&ThingObject::value};
//   PyType_Slot slots[] = {{Py_tp_dealloc, Slot(Dealloc<ThingObject>)}, {Py_tp_traverse, Slot(Traverse<ThingObject>)},
//                          {Py_tp_clear, Slot(Clear<ThingObject>)}, …};
//
// Each type has HAVE_GC and a member `weakrefs`.
#ifndef WF_BINDINGS_RAW_TYPE_H_
#define WF_BINDINGS_RAW_TYPE_H_

#include <Python.h>

#include <array>

namespace wf::bindings {

// The strong references of an Object, null or not. Specialised for each type.
template <class Object>
constexpr std::array<PyObject * Object::*, 0> kOwned{};

template <class Object>
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  for (PyObject* Object::* const member : kOwned<Object>) Py_VISIT(reinterpret_cast<Object*>(self)->*member);
  return 0;
}

template <class Object>
int Clear(PyObject* self) {
  for (PyObject* Object::* const member : kOwned<Object>) Py_CLEAR(reinterpret_cast<Object*>(self)->*member);
  return 0;
}

template <class Object>
void Dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<Object*>(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Clear<Object>(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);  // the type of an object of a heap type is one of its references
}

// A function as PyType_Slot wants it.
template <class F>
void* Slot(F* function) {
  return reinterpret_cast<void*>(function);
}

// Makes the type of `spec` and puts it into the module. nullptr with an error set.
inline PyTypeObject* AddType(PyObject* module, PyType_Spec* spec) {
  PyObject* type = PyType_FromSpec(spec);
  // The reference stays ours for ever: the caller keeps the pointer in a global variable.
  if (type == nullptr || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) < 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace wf::bindings

#endif  // WF_BINDINGS_RAW_TYPE_H_
