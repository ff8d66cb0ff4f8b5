// Measured calls outside the graph: into the metrics always, into a store after profiling.start(store=...).
#ifndef WF_BINDINGS_DIRECT_CALL_H_
#define WF_BINDINGS_DIRECT_CALL_H_

#include <Python.h>

#include <cstdint>

#include "base/states.h"
#include "function_type.h"

namespace wf::bindings {

// Calls the user's function and counts the call. Same contract as a vectorcall.
PyObject* CallMeasured(FunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames);

// One call of a function whose work comes in pieces: coroutine, generator, async generator. Wall time runs from the
// first Resume to Finish, CPU only between Resume and Suspend.
struct Observation {
  FunctionObject* function = nullptr;  // strong
  int64_t start_ns = 0;
  int64_t cpu_ns = 0;
  int64_t slice_ns = -1;  // thread CPU at Resume; -1: suspended
  bool finished = false;

  explicit Observation(FunctionObject* of);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  void Resume();
  void Suspend();
  void Finish(base::AttemptState state);
};

// Error of the thread as a state: cancelled for asyncio.CancelledError, KeyboardInterrupt, GeneratorExit; else error.
base::AttemptState StateOfCurrentError();

// Stores direct calls in `folder` from now on ("" = the usual place); an empty call stops it. Raises on failure.
PyObject* StartDirectStore(PyObject* module, PyObject* folder);
PyObject* StopDirectStore(PyObject* module, PyObject* unused);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_DIRECT_CALL_H_
