// Future: what a task call inside a workflow's body returns; stands for the value of one node.
//
// The value lives in the Future alone: dependants hold the Future as an argument until they have started, so a value
// goes as soon as nobody can ask for it any more. Used with the GIL held.
#ifndef WF_BINDINGS_FUTURE_TYPE_H_
#define WF_BINDINGS_FUTURE_TYPE_H_

#include <Python.h>

#include <cstdint>

#include "base/states.h"

namespace wf::bindings {

class Engine;

struct FutureObject {
  PyObject_HEAD Engine* engine;  // borrowed from engine_object
  PyObject* engine_object;       // strong
  PyObject* task;                // str: name of the task
  PyObject* result;              // set before the node becomes final
  PyObject* error;               // the exception of the last attempt
  PyObject* error_trace;         // its traceback as it was raised
  PyObject* weakrefs;
  uint32_t node;
  int32_t map_index;
  uint32_t cause;  // skipped: node because of which
  base::NodeState state;
};

extern PyTypeObject* FutureType;

inline bool IsFuture(PyObject* object) { return Py_TYPE(object) == FutureType; }

int InitFutureType(PyObject* module);
// A new reference, or nullptr with MemoryError set.
FutureObject* NewFuture(PyObject* engine_object, Engine* engine, PyObject* task, uint32_t node, int32_t map_index);
// Value of a final future as a new reference; nullptr with the task's error set when it did not succeed.
PyObject* FutureValue(FutureObject* future);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_FUTURE_TYPE_H_
