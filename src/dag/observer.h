// How the shell around the machine tells others what happens: metrics, a store, a progress line.
//
// `dag` names none of them; whoever composes a program gives the shell an Observer. The calls come one at a time, from
// any thread of the pool and with its lock held: they must be quick, must not throw and must not call back. An observer
// outlives the run.
#ifndef WF_DAG_OBSERVER_H_
#define WF_DAG_OBSERVER_H_

#include <cstdint>
#include <exception>
#include <string>

#include "dag/machine.h"
#include "wf/status.h"

namespace wf {
class Workflow;
}

namespace wf::dag {

// Times are CLOCK_MONOTONIC in nanoseconds.
struct AttemptReading {
  NodeId node = kNoNode;
  uint32_t attempt = 0;
  AttemptState state = AttemptState::kSuccess;
  bool retried = false;
  int64_t ready_ns = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t cpu_ns = 0;  // of the thread that ran it
  Status error;
  std::exception_ptr exception;  // what the task threw; null if it threw nothing
};

struct SpanReading {
  NodeId node = kNoNode;
  uint32_t attempt = 0;
  uint32_t depth = 0;  // 0: not inside another span
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t cpu_ns = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnNodeAdded(NodeId /*node*/, uint32_t /*task*/, NodeId /*parent*/) {}
  virtual void OnNodeReady(NodeId /*node*/, uint32_t /*attempt*/, int64_t /*now*/) {}
  virtual void OnAttemptStarted(NodeId /*node*/, uint32_t /*attempt*/, int64_t /*now*/) {}
  virtual void OnAttemptFinished(const AttemptReading& /*reading*/) {}
  virtual void OnSpan(const SpanReading& /*reading*/) {}  // after it ended, before its attempt is reported
  virtual void OnNodeFinal(NodeId /*node*/, NodeState /*state*/, NodeId /*cause*/) {}
  virtual void OnRunFinal(RunState /*state*/) {}
};

// Adds an observer to a workflow of the public API, whose node ids are the indexes of its report plus one.
// REQUIRES: before Workflow::Run.
void Observe(Workflow& workflow, Observer* observer);

}  // namespace wf::dag

#endif  // WF_DAG_OBSERVER_H_
