// Engine: nodes that executors in Python run: in worker processes, or on an event loop.
#include "base/clock.h"
#include "engine.h"
#include "error_state.h"
#include "interpreter_end.h"

namespace wf::bindings {

Job::~Job() {
  if (begun && !finished) engine->Lost(*this, false, "its executor dropped it");
  Py_XDECREF(reinterpret_cast<PyObject*>(function));
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  Py_XDECREF(engine_object);
}

std::unique_ptr<Job> Engine::Take(double timeout, bool loop) {
  auto job = std::make_unique<Job>();
  const auto queue = loop ? app::Queue::kLoop : app::Queue::kMain;
  const int64_t wait_ns = timeout < 0 ? -1 : static_cast<int64_t>(timeout * 1e9);
  bool got = false;
  WithoutGil([&] { got = session_->TakeReady(queue, wait_ns, &job->ready); });
  Drain();
  if (!got || records_[job->ready.node - 1].function == nullptr) return nullptr;
  const uint32_t node = job->ready.node;
  job->engine = this;
  job->engine_object = self_;
  Py_INCREF(self_);
  job->function = records_[node - 1].function;
  Py_INCREF(job->function);
  PyObject* names = records_[node - 1].kwnames;
  const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  PyObject* resolved = ResolvedArgs(node);
  if (resolved == nullptr) {
    FailBeforeStart(*job);
    return nullptr;
  }
  const Py_ssize_t nargs = PyTuple_GET_SIZE(resolved) - keywords;
  job->args = PyTuple_GetSlice(resolved, 0, nargs);
  job->kwargs = PyDict_New();
  for (Py_ssize_t i = 0; i < keywords && job->kwargs != nullptr; ++i) {
    PyDict_SetItem(job->kwargs, PyTuple_GET_ITEM(names, i), PyTuple_GET_ITEM(resolved, nargs + i));
  }
  Py_DECREF(resolved);
  return job;
}

// The arguments cannot be made (a set of values that cannot be hashed, say): the node fails with the current error.
void Engine::FailBeforeStart(Job& job) {
  PyObject* error = TakeError();
  if (Begin(job, -1, true)) {
    const app::RemoteFigures figures{job.open.start_ns, base::MonotonicNs(), 1, 0, {}};
    Finish(job, dag::Outcome::kError, nullptr, error, DescribeError(error, dag::Outcome::kError), &figures);
  }
  Py_XDECREF(error);
}

bool Engine::Begin(Job& job, int32_t worker, bool remote) {
  app::Commands out;
  job.remote = remote;
  job.begun = remote ? session_->BeginRemote(job.ready, worker, &job.open, out)
                     : session_->BeginAttempt(job.ready, worker, &job.open, out);
  if (job.begun) FillCurrent(&job.current, job.open, records_[job.ready.node - 1]);
  job.finished = !job.begun;
  Process(out);
  return job.begun;
}

bool Engine::Finish(Job& job, dag::Outcome outcome, PyObject* result, PyObject* error, app::AttemptEnd end,
                    const app::RemoteFigures* figures) {
  if (!job.begun || job.finished) return false;
  job.finished = true;
  FutureObject* future = records_[job.ready.node - 1].future;
  if (future != nullptr && outcome == dag::Outcome::kSuccess) {
    Py_XINCREF(result);
    Py_XSETREF(future->result, result);
  } else if (future != nullptr && error != nullptr && error != Py_None) {
    Py_INCREF(error);
    Py_XSETREF(future->error, error);
    Py_XSETREF(future->error_trace, PyException_GetTraceback(error));
  }
  end.outcome = outcome;
  app::Commands out;
  std::string cause = end.cause;
  const auto state = figures != nullptr ? session_->EndRemote(&job.open, std::move(end), *figures, out)
                                        : session_->EndAttempt(&job.open, std::move(end), out);
  NoteEnd(job.ready.node, state, std::move(cause));
  Process(out);
  return true;
}

void Engine::Lost(Job& job, bool innocent, const std::string& cause) {
  if (!job.begun || job.finished) return;
  job.finished = true;
  app::Commands out;
  session_->WorkerLost(&job.open, innocent, cause, out);
  NoteEnd(job.ready.node, base::AttemptState::kLost, cause);
  Process(out);
}

std::vector<uint32_t> Engine::TakeCancels() {
  Drain();
  return std::exchange(cancels_, {});
}

}  // namespace wf::bindings
