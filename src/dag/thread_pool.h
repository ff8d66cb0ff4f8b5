// ThreadPool: the machine's shell for C++ bodies on threads.
//
// It owns a Machine and carries out its commands: `threads` workers run bodies, the thread that calls Run serves the
// timers, one mutex guards the machine. Bodies, destructors of bodies and stop callbacks run without the mutex, so that
// they may call back (Add, Cancel). Every way out of a body, exceptions of any type included, ends in AttemptFinished,
// which gives back what the node holds.
//
// A body that was told to stop (cancel, time-out) is waited for: its thread cannot be taken away in C++ without taking
// the data that it uses. So the run ends when the last body has returned.
//
// Threading: all functions may be called from any thread.
#ifndef WF_DAG_THREAD_POOL_H_
#define WF_DAG_THREAD_POOL_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "dag/machine.h"
#include "dag/observer.h"
#include "wf/internal/task_body.h"
#include "wf/status.h"

namespace wf::dag {

struct PoolOptions {
  unsigned threads = 0;  // 0: one per CPU
  std::stop_token stop{};
  size_t max_spans = 100'000;  // of the whole run
};

class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool();  // REQUIRES: Run is not going on

  // REQUIRES: before Run.
  void AddObserver(Observer* observer) { observers_.push_back(observer); }

  Result<LimitId> AddLimit(std::string_view name, uint32_t capacity);
  // The parent is the node whose body calls this. `spec.parent` is not looked at.
  Result<NodeId> Add(NodeSpec spec, std::unique_ptr<internal::TaskBody> body);
  Status AddAfter(NodeId node, NodeId dep);
  void Cancel();

  // Runs what was added and what is added meanwhile, to the end; once. OK says that the run took place, run_state()
  // how it went. kInvalidArgument: a cycle. kUnavailable: no thread could be started. kInternal: the machine is stuck.
  Status Run(const PoolOptions& options, const Machine::NodeNamer& namer);

  // After Run.
  RunState run_state();
  uint64_t spans_dropped();

 private:
  struct Work {
    std::unique_ptr<internal::TaskBody> body;
    std::stop_source stop{std::nostopstate};  // of the running attempt, if its body looks at it
    int64_t ready_ns = 0;
  };
  // What has to be done without the lock, since it runs foreign code.
  struct Aftermath {
    std::vector<std::stop_source> stops;
    std::vector<std::unique_ptr<internal::TaskBody>> done;     // of nodes that succeeded
    std::vector<std::unique_ptr<internal::TaskBody>> discard;  // of the others
    bool empty() const { return stops.empty() && done.empty() && discard.empty(); }
    void Settle();
  };
  using Lock = std::unique_lock<std::mutex>;

  // Carries out the machine's commands, but for what goes to `after`. REQUIRES: locked.
  void CarryOut(int64_t now, Aftermath& after);
  void CarryOutOne(const Command& command, int64_t now, Aftermath& after);
  Status StartWorkers(unsigned threads);
  void ServeTimers(Lock& lock);
  void RunWorker();
  void RunAttempt(Lock& lock, const Command& ready, Aftermath& after);
  void ReportSpans(std::vector<SpanReading>& spans, uint64_t dropped);

  std::mutex mutex_;
  std::condition_variable work_;    // for workers
  std::condition_variable timing_;  // for the thread in Run
  Machine machine_;
  Commands commands_;
  std::vector<Work> nodes_{1};  // by NodeId
  std::vector<Observer*> observers_;
  std::deque<Command> ready_;    // may hold nodes that were cancelled meanwhile: AttemptStarted tells
  std::vector<Command> timers_;  // a heap, the next one on top
  std::vector<std::jthread> workers_;
  size_t idle_ = 0;
  size_t spans_left_ = 0;
  uint64_t spans_dropped_ = 0;
  bool ran_ = false;
  bool over_ = false;
  Status stuck_;
};

}  // namespace wf::dag

#endif  // WF_DAG_THREAD_POOL_H_
