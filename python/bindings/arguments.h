// Futures among the arguments of a task call: found when the node is made (they are its edges), replaced by their
// values in copies when it starts. Looked for in lists, tuples, dicts, sets and dataclasses at any depth; user objects
// of other kinds are passed as they are. Used with the GIL held.
#ifndef WF_BINDINGS_ARGUMENTS_H_
#define WF_BINDINGS_ARGUMENTS_H_

#include <Python.h>

#include <cstdint>
#include <vector>

namespace wf::bindings {

class Engine;

// Appends the nodes of all futures in `object` to `deps`; they must belong to `engine` unless that is null. Returns 1
// when there were any, 0 when none, -1 with an error set (a future of another run; a structure nested too deeply).
int FindFutures(PyObject* object, const Engine* engine, std::vector<uint32_t>* deps);

// The same object (new reference) when there is no future inside, else a copy with values in their places. nullptr with
// an error set. REQUIRES: all futures inside are final and successful.
PyObject* ReplaceFutures(PyObject* object);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_ARGUMENTS_H_
