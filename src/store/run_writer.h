// RunWriter: takes what a run produces without ever making it wait, and writes it within a second.
//
// Put* and AddLog append to a buffer under a mutex and return; a thread of the writer's own flushes the buffer about
// twice a second in one transaction. A row put twice before a flush is written once, in its last form (nodes,
// attempts). Full or read-only disk: what cannot be written waits for the next flush, as far as the buffer allows (96
// MiB of rows and 32 MiB of log lines, series and stacks; what is above is dropped and counted), the error is told once
// through `on_error`, and the run goes on. Another process that holds the store only delays the rows. What looks like a
// secret is replaced by "***".
//
// Threading: all methods may be called from any thread, hooks excepted: Flush and Close wait for the writer's thread,
// so call them without holding a lock that a hook takes, and not from a hook. After fork the child must not use it; it
// may destroy it.
#ifndef WF_STORE_RUN_WRITER_H_
#define WF_STORE_RUN_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profile/model.h"
#include "profile/stack_recorder.h"
#include "wf/status.h"

namespace wf::store {

// A request that another process left for the owner of this run.
struct Request {
  int64_t id = 0;
  uint8_t kind = 0;  // store::RequestKind
  std::string detail;
};

class RunWriter {
 public:
  virtual ~RunWriter() = default;  // finishes as by Close() if that was not called, leaving the run as it is

  virtual void PutProcess(profile::Process process) = 0;
  virtual void PutTask(profile::Task task) = 0;
  virtual void PutNode(const profile::Node& node) = 0;
  virtual void PutEdges(const profile::Edge* edges, size_t count) = 0;
  virtual void PutAttempt(const profile::Attempt& attempt) = 0;
  virtual void AddLog(profile::LogLine line) = 0;
  virtual void PutSeries(const std::string& name, const profile::SeriesPoint& point) = 0;
  // What one StackRecorder took since it was asked before; all of a run's stacks come from one recorder. Samples that
  // there is no room for are dropped and counted like log lines; names and threads, which are bounded, are always kept.
  virtual void PutStacks(profile::StackDelta stacks) = 0;
  // The run's own row: state, cause, end, and whatever else is known only later.
  virtual void PutRun(const profile::Run& run) = 0;

  // Called on the writer's thread just before each flush, so that the owner can put what is open right now (running
  // nodes and attempts) without paying for it at every start. Set once, before the first Put.
  virtual void SetBeforeFlush(std::function<void()> hook) = 0;
  // Called on the writer's thread for each new request of another process.
  virtual void SetOnRequest(std::function<void(const Request&)> hook) = 0;
  // Called on the writer's thread at the first write error.
  virtual void SetOnError(std::function<void(const Status&)> hook) = 0;

  // Writes all that was put before the call and waits for it. Returns the first error since the last Flush.
  virtual Status Flush() = 0;
  // Flush, then the writer's thread ends and further Puts are ignored.
  virtual Status Close() = 0;
  // Rows lost to write errors so far.
  virtual uint64_t LostRows() const = 0;
  // The thread's CPU clock, so that the owner can leave the profiler's own cost out of a task's figures.
  virtual int64_t ThreadCpuNs() const = 0;
};

}  // namespace wf::store

#endif  // WF_STORE_RUN_WRITER_H_
