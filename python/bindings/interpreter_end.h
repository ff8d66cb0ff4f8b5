// Threads that are still in our functions when the interpreter is finalized.
//
// Up to 3.13, CPython ends such a thread where it next asks for the GIL, by pthread_exit(). With glibc that unwinds its
// stack: destructors would touch Python objects without the GIL, and a `catch (...)` above, as nanobind's, would take
// the unwinding for an exception and crash the process. What our functions do that may ask for the GIL goes through
// here: the thread then stays where it is until the process has ended, as threads do from 3.14 on.
// https://docs.python.org/3/c-api/threads.html, "Cautions regarding runtime finalization".
#ifndef WF_BINDINGS_INTERPRETER_END_H_
#define WF_BINDINGS_INTERPRETER_END_H_

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

#include <utility>

namespace wf::bindings {

// Without the GIL and for ever, whatever signals arrive.
[[noreturn]] inline void StayUntilExit() {
  for (;;) pause();
}

// call(), which runs Python code or asks for the GIL.
template <typename Call>
auto InPython(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (abi::__forced_unwind&) {
    StayUntilExit();
  }
}

// call() without the GIL.
template <typename Call>
void WithoutGil(Call&& call) {
  struct Released {
    Released() : state(PyEval_SaveThread()) {}
    ~Released() {
      InPython([this] { PyEval_RestoreThread(state); });
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    PyThreadState* state;
  };
  const Released released;
  std::forward<Call>(call)();
}

}  // namespace wf::bindings

#endif  // WF_BINDINGS_INTERPRETER_END_H_
