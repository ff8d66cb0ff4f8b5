// Threads that run in several interpreters.
//
// A thread that enters a subinterpreter (`_interpreters.run_string`, PEP 734's `Interpreter.exec`, mod_wsgi, …) has a
// PyThreadState in each: the outer one stays where the call was made while the inner one runs. To the kernel, and to
// who asks where the time goes, it is one thread.
#ifndef WF_SAMPLER_JOINED_THREADS_H_
#define WF_SAMPLER_JOINED_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cpython/code_cache.h"
#include "sampler/thread_sample.h"

namespace wf::sampler {

// Not thread-safe.
class ThreadJoiner {
 public:
  // Joins the samples of one thread (the same tid, known) into the one of its outermost interpreter, which is taken to
  // be that with the lowest id: its name, its identity, its place in the list. The frames of the inner one stand on a
  // marker "<interpreter 1>" on those of the outer one. What is not whole is not continued: nothing is put on the root
  // part of a torn stack, and nothing under a truncated one. Whether there was one to join.
  bool Join(std::vector<ThreadSample>* threads);

 private:
  void Add(const ThreadSample& inner, ThreadSample* outer);

  std::map<int64_t, std::shared_ptr<const cpython::Code>> markers_;  // by interpreter
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_JOINED_THREADS_H_
