// What the native layer asks of the Python layer: rare things that are shorter and clearer in Python (messages,
// coroutines, formatting a traceback). Set once by workflow/_native.py; used with the GIL held.
#ifndef WF_BINDINGS_HOOKS_H_
#define WF_BINDINGS_HOOKS_H_

#include <Python.h>

#include <initializer_list>

namespace wf::bindings {

struct Hooks {
  PyObject* bad_call = nullptr;       // (function, args, kwargs): raises the error that says what is wrong with a call
  PyObject* describe = nullptr;       // (function) -> (module.qualname, file, line)
  PyObject* run_coroutine = nullptr;  // (coroutine) -> value, run to its end in this thread
  PyObject* collect_asyncgen = nullptr;  // (async generator) -> list, likewise
  PyObject* wrap_stream = nullptr;       // (function, stream): a measured coroutine, generator, async generator
  PyObject* format_error = nullptr;      // (exception) -> (one line, traceback text)
  PyObject* skipped_error = nullptr;     // (task, node, cause task, cause node, cause exception) -> exception
  PyObject* cancelled_error = nullptr;   // (task, node, reason) -> exception
  PyObject* copy_dataclass = nullptr;    // (dataclass instance, {field: value}) -> copy with these fields
  PyObject* awaited = nullptr;           // (task, value) -> value; raises when it is a coroutine
  PyObject* is_interrupt = nullptr;      // (exception) -> bool: is it one from outside the task?
};

Hooks& GetHooks();

// set_hooks(**callables)
PyObject* SetHooks(PyObject* module, PyObject* args, PyObject* kwargs);

// Calls a hook with new references in `args` that are consumed. nullptr with an error set on failure or when unset.
PyObject* CallHook(PyObject* hook, const char* name, std::initializer_list<PyObject*> args);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_HOOKS_H_
