// Function: the object that @wf.task, @wf.profile and @profiling.collect put in the place of a user's function.
//
// A call costs one thread-local look-up and then one of three things: a new node (in a thread that builds a workflow's
// body), a plain call (another Function outside already observes it, or the mode is off), or a measured call.
#ifndef WF_BINDINGS_FUNCTION_TYPE_H_
#define WF_BINDINGS_FUNCTION_TYPE_H_

#include <Python.h>

#include <cstdint>

namespace wf::metrics {
class TaskMetrics;
}

namespace wf::bindings {

enum class FunctionKind : uint8_t { kFunction, kCoroutine, kGenerator, kAsyncGenerator };
enum class FunctionMode : uint8_t { kInherit, kOff, kAlways, kSample };

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* func;  // the user's callable
  PyObject* name;  // str
  PyObject* dict;
  PyObject* weakrefs;
  metrics::TaskMetrics* direct;  // of calls outside every workflow; null: not looked up yet
  metrics::TaskMetrics* nested;  // of calls inside attempts of `nested_workflow`
  const void* nested_workflow;
  uint64_t engine_serial;  // the engine that numbered this task last, and its number there
  uint32_t engine_task;
  uint32_t page_name;      // context::NumberOfName, once there was such an engine
  uint32_t direct_serial;  // likewise for the session of profiling.start
  uint32_t direct_task;
  uint32_t direct_calls;
  int every;
  FunctionKind kind;
  FunctionMode mode;
  char task;  // bools as PyMemberDef wants them
  char cpu;
  char cpu_is_set;  // by a decorator: it beats the file
  char observed;
  char after_keyword;
};

extern PyTypeObject* FunctionType;

inline bool IsFunction(PyObject* object) { return Py_TYPE(object) == FunctionType; }

int InitFunctionType(PyObject* module);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_FUNCTION_TYPE_H_
