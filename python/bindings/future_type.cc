#include "future_type.h"

#include <structmember.h>

#include "engine.h"
#include "error_state.h"
#include "hooks.h"
#include "raw_type.h"

namespace wf::bindings {

PyTypeObject* FutureType = nullptr;

template <>
constexpr std::array kOwned<FutureObject> = {&FutureObject::result, &FutureObject::error, &FutureObject::error_trace,
                                             &FutureObject::task, &FutureObject::engine_object};

namespace {

FutureObject* Cast(PyObject* object) { return reinterpret_cast<FutureObject*>(object); }

PyObject* StateName(base::NodeState state) {
  const std::string_view name = base::Name(state);
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyObject* Repr(PyObject* self) {
  FutureObject* future = Cast(self);
  const std::string state(base::Name(future->state));
  if (future->map_index >= 0) {
    return PyUnicode_FromFormat("<Future %U[%d] node %u %s>", future->task, future->map_index, future->node,
                                state.c_str());
  }
  return PyUnicode_FromFormat("<Future %U node %u %s>", future->task, future->node, state.c_str());
}

// Parses the one argument `timeout` (None or seconds). False with an error set.
bool ParseTimeout(PyObject* args, PyObject* kwargs, double* seconds) {
  static const char* names[] = {"timeout", nullptr};
  PyObject* timeout = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &timeout)) return false;
  *seconds = -1;
  if (timeout == Py_None) return true;
  *seconds = PyFloat_AsDouble(timeout);
  if (*seconds < 0) *seconds = 0;
  return PyErr_Occurred() == nullptr;
}

bool WaitDone(FutureObject* future, double timeout) {
  if (base::IsFinal(future->state)) return true;
  const int done = future->engine->WaitFor(future, timeout);
  if (done > 0) return true;
  if (done == 0) {
    PyErr_Format(PyExc_TimeoutError, "%U (node %u) did not end within the time-out; it is %s", future->task,
                 future->node, std::string(base::Name(future->state)).c_str());
  }
  return false;
}

PyObject* Result(PyObject* self, PyObject* args, PyObject* kwargs) {
  double timeout = 0;
  if (!ParseTimeout(args, kwargs, &timeout) || !WaitDone(Cast(self), timeout)) return nullptr;
  return FutureValue(Cast(self));
}

PyObject* Exception(PyObject* self, PyObject* args, PyObject* kwargs) {
  double timeout = 0;
  if (!ParseTimeout(args, kwargs, &timeout) || !WaitDone(Cast(self), timeout)) return nullptr;
  PyObject* value = FutureValue(Cast(self));
  if (value != nullptr) {
    Py_DECREF(value);
    Py_RETURN_NONE;
  }
  return TakeError();
}

PyObject* Done(PyObject* self, PyObject* /*unused*/) {
  return PyBool_FromLong(base::IsFinal(Cast(self)->state) ? 1 : 0);
}

PyObject* GetState(PyObject* self, void* /*closure*/) { return StateName(Cast(self)->state); }

PyObject* Reduce(PyObject* self, PyObject* /*unused*/) {
  return PyErr_Format(
      PyExc_TypeError,
      "%R cannot be pickled: a future is known only in its own run. Pass it as an argument of a task, or "
      "take its value with .result()",
      self);
}

PyMethodDef kMethods[] = {
    {"result", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Result)), METH_VARARGS | METH_KEYWORDS,
     "result(timeout=None)\n--\n\nWait and return the value; raise the task's own exception when it failed."},
    {"exception", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Exception)), METH_VARARGS | METH_KEYWORDS,
     "exception(timeout=None)\n--\n\nWait and return the exception, None after success."},
    {"done", Done, METH_NOARGS, "done()\n--\n\nTrue when the node has its final state."},
    {"__reduce__", Reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef kGetSet[] = {
    {"state", GetState, nullptr, "waiting, ready, running, success, failed, skipped, cancelled or cached", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"node", T_UINT, offsetof(FutureObject, node), READONLY, "number of the node in its run, from 1"},
    {"map_index", T_INT, offsetof(FutureObject, map_index), READONLY, "position in .map(), else -1"},
    {"task", T_OBJECT, offsetof(FutureObject, task), READONLY, "name of the task"},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FutureObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot kSlots[] = {
    {Py_tp_dealloc, Slot(Dealloc<FutureObject>)},
    {Py_tp_traverse, Slot(Traverse<FutureObject>)},
    {Py_tp_clear, Slot(Clear<FutureObject>)},
    {Py_tp_repr, Slot(Repr)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kGetSet},
    {Py_tp_members, kMembers},
    {Py_tp_doc, const_cast<char*>("The value of a task call inside a workflow, not computed yet.")},
    {0, nullptr},
};

PyType_Spec kSpec = {"workflow._core.Future", sizeof(FutureObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

void RaiseStored(FutureObject* future) {
  // Raised again and again it would collect a frame each time: give it the traceback it had in the task.
  if (future->error_trace != nullptr) PyException_SetTraceback(future->error, future->error_trace);
  Py_INCREF(future->error);
  RestoreError(future->error);
}

void RaiseMade(PyObject* error) {
  if (error != nullptr) RestoreError(error);
}

}  // namespace

int InitFutureType(PyObject* module) {
  FutureType = AddType(module, &kSpec);
  return FutureType == nullptr ? -1 : 0;
}

FutureObject* NewFuture(PyObject* engine_object, Engine* engine, PyObject* task, uint32_t node, int32_t map_index) {
  FutureObject* future = PyObject_GC_New(FutureObject, FutureType);
  if (future == nullptr) return nullptr;
  future->engine = engine;
  Py_INCREF(engine_object);
  future->engine_object = engine_object;
  Py_INCREF(task);
  future->task = task;
  future->result = future->error = future->error_trace = future->weakrefs = nullptr;
  future->node = node;
  future->map_index = map_index;
  future->cause = 0;
  future->state = base::NodeState::kWaiting;
  PyObject_GC_Track(reinterpret_cast<PyObject*>(future));
  return future;
}

PyObject* FutureValue(FutureObject* future) {
  switch (future->state) {
    case base::NodeState::kSuccess:
    case base::NodeState::kCached:
      if (future->result == nullptr) {
        PyErr_Format(PyExc_RuntimeError, "the value of %U (node %u) is gone", future->task, future->node);
        return nullptr;
      }
      Py_INCREF(future->result);
      return future->result;
    case base::NodeState::kFailed:
      if (future->error != nullptr) {
        RaiseStored(future);
      } else {
        PyErr_Format(PyExc_RuntimeError, "%U (node %u) failed and left no exception", future->task, future->node);
      }
      return nullptr;
    case base::NodeState::kSkipped: RaiseMade(future->engine->SkippedError(future)); return nullptr;
    case base::NodeState::kCancelled: RaiseMade(future->engine->CancelledError(future)); return nullptr;
    default:
      PyErr_Format(PyExc_RuntimeError, "%U (node %u) is still %s", future->task, future->node,
                   std::string(base::Name(future->state)).c_str());
      return nullptr;
  }
}

}  // namespace wf::bindings
