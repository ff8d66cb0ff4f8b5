// RunSession: one run in this process. It joins the state machine (dag), the store, the metrics and the probes, and
// knows no executor and no Python: whoever executes takes ready nodes from it and reports what became of them.
//
//   auto session = RunSession::Begin(options);
//   NodeId a = *session->AddNode(spec, out);
//   session->Start(out);
//   while (session->TakeReady(Queue::kMain, &ready, timeout)) { Attempt open; session->BeginAttempt(ready, …); …;
//   session->EndAttempt(…); } session->Close(state, cause);
//
// Commands. Calls that can change states of nodes append kNodeFinal, kCancelAttempt and kRunFinal commands to the
// caller's vector; kReady and kSetTimer are dealt with inside. What happens on other threads (timers, a request of
// `wf cancel`) is kept until somebody calls TakePending.
//
// Threading: every method may be called from any thread. No method waits for the disk but Close and Flush. An
// OpenAttempt belongs to the thread that runs it. After fork the child must not use the session.
#ifndef WF_APP_RUN_SESSION_H_
#define WF_APP_RUN_SESSION_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/gpu_watch.h"
#include "app/open_attempt.h"
#include "app/sampler_process.h"
#include "dag/machine.h"
#include "metrics/run_families.h"
#include "profile/model.h"
#include "store/store.h"
#include "wf/status.h"

namespace wf::app {

using dag::Commands;
using dag::NodeId;

enum class Mode : uint8_t { kOff, kAlways, kSample };

struct SessionOptions {
  profile::Run run;          // id, start times, usable CPUs and state are filled in here
  bool stored = true;        // false: nothing is written
  std::string store_folder;  // empty: store::Locate
  // A disk that takes nothing (full, read-only, no rights) costs a run its record, not its results: it goes on, and the
  // hook of SetOnStoreError hears of it. True: it is an error of Begin, because a record is all that was asked for.
  bool needs_store = false;
  Mode mode = Mode::kAlways;
  bool mode_overrides = false;  // the command line or environment asked for the mode: it beats that of a task
  int every = 10;               // mode sample: the first attempt of a task and then 1 in `every`
  bool cpu = true;              // false: CPU time is left out
  bool cpu_overrides = false;   // as mode_overrides
  // Stacks: so many times a second by a process beside this one; 0: none. Only what is stored has stacks.
  double stack_rate_hz = 0;
  std::string sampler;  // the file of `wf`, which is that process
};

// How one task is measured; kInherit: as the run.
struct TaskOptions {
  enum class Mode : uint8_t { kInherit, kOff, kAlways, kSample } mode = Mode::kInherit;
  int every = 0;            // 0: as the run
  std::optional<bool> cpu;  // none: as the run
};

// A node that may run now.
struct Ready {
  NodeId node = 0;
  uint32_t attempt = 0;
};

// kMain: what threads, worker processes and the inline executor take. kLoop: coroutines, when an event loop serves
// them.
enum class Queue : uint8_t { kMain = 0, kLoop = 1 };

struct NodeRequest {
  uint32_t task = 0;  // from AddTask
  int64_t map_index = -1;
  Queue queue = Queue::kMain;
  NodeId parent = 0;
  std::span<const NodeId> data_deps;
  std::span<const NodeId> after_deps;
};

// What became of an attempt, told to EndAttempt.
struct AttemptEnd {
  dag::Outcome outcome = dag::Outcome::kSuccess;
  std::string cause;  // one line; empty on success
  std::string traceback;
};

// Figures of an attempt that ran in another process.
struct RemoteFigures {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t process = 0;
  int32_t tid = 0;
  profile::Usage usage;
};

class RunSession {
 public:
  // Opens the store, writes the run's row and registers the metrics. What lies where the store should be and is none
  // (or a newer one) is an error: nothing has run yet, and the user can mend it. For a disk that takes nothing see
  // needs_store.
  static Result<std::unique_ptr<RunSession>> Begin(SessionOptions options);
  ~RunSession();  // an open run is closed as failed, "abandoned"
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;

  const profile::Run& run() const { return run_; }
  // The folder of the store; empty when nothing is stored.
  const std::string& store_folder() const { return store_folder_; }

  // A task by its name. kAlreadyExists: another function (qualname and file) has this name; both places are named.
  Result<uint32_t> AddTask(const profile::Task& task, const TaskOptions& options);
  Result<NodeId> AddNode(const NodeRequest& request, Commands& out);
  Status Start(Commands& out);
  void BodyEnded(dag::BodyOutcome outcome, Commands& out);

  // The next ready node; waits up to `timeout_ns` (0: does not wait; < 0: without limit). False: none, or the run is
  // over. Timers that come due are fired by whoever waits here or in WaitChange.
  bool TakeReady(Queue queue, int64_t timeout_ns, Ready* ready);
  // Starts measuring on the calling thread. False: the node must not run (cancelled meanwhile); `open` is untouched.
  bool BeginAttempt(const Ready& ready, int32_t worker, OpenAttempt* open, Commands& out);
  // Answers how the attempt counts: the machine may see in it a time-out or a cancel.
  base::AttemptState EndAttempt(OpenAttempt* open, AttemptEnd end, Commands& out);
  // For work in another process: the same without readings; EndRemote brings the figures.
  bool BeginRemote(const Ready& ready, int32_t worker, OpenAttempt* open, Commands& out);
  base::AttemptState EndRemote(OpenAttempt* open, AttemptEnd end, const RemoteFigures& figures, Commands& out);
  // A worker died with this attempt: `innocent` reruns it without using a retry.
  void WorkerLost(OpenAttempt* open, bool innocent, const std::string& cause, Commands& out);
  // A call outside the graph that belongs to this run (profiling.start): a node and an attempt in one step.
  void RecordCall(uint32_t task, const profile::Attempt& attempt);

  void Cancel(std::string reason, Commands& out);
  // Commands that arose on other threads.
  void TakePending(Commands* out);
  // Returns when the run is final, a node became final after `seen_version` (see Version), or the time is over.
  void WaitChange(uint64_t seen_version, int64_t timeout_ns);
  uint64_t Version() const { return version_.load(std::memory_order_acquire); }
  bool Finished();
  dag::Machine::StateCounts Counts();
  std::string Explain();
  Status CheckProgress();
  // Cancelled by another process, or by Cancel: the reason; else empty.
  std::string CancelReason();

  void AddLog(profile::LogLine line);
  // A worker process: a row in the store, series on the page, and its GPU memory is ours.
  uint32_t AddProcess(int32_t pid, const std::string& name);
  // Before it is waited for, so that its last figures can be read.
  static void RemoveProcess(int32_t pid);
  // A remote attempt is about to run in this worker process.
  void SetWorkerPid(OpenAttempt* open, int32_t pid);
  void SetOnStoreError(std::function<void(const Status&)> hook);
  // The process that samples this run; 0: none does.
  int32_t SamplerPid() const { return sampler_ == nullptr ? 0 : sampler_->pid(); }
  // Why the run has no stacks, or not all; known in full after Close. Never an error of the run.
  Status StacksProblem();
  void Flush();
  // Ends the run with `state`; writes everything; further calls do nothing.
  Status Close(base::RunState state, std::string cause);

 private:
  struct TaskInfo {
    profile::Task task;
    TaskOptions options;
    metrics::TaskMetrics* metrics = nullptr;
    uint32_t attempts = 0;
  };
  struct NodeInfo {
    uint32_t task = 0;
    int32_t map_index = -1;
    Queue queue = Queue::kMain;
    int64_t ready_ns = 0;
  };
  struct Timer {
    int64_t at_ns;
    NodeId node;
    uint32_t attempt;
    dag::TimerKind kind;
    bool operator<(const Timer& other) const { return at_ns > other.at_ns; }  // a min-heap
  };

  explicit RunSession(SessionOptions options);
  Status OpenStore();
  void StartSampler();
  void RegisterOpen(OpenAttempt* open, const Ready& ready, int32_t worker);
  TaskOptions::Mode ModeOf(const TaskInfo& task) const;
  bool ShouldSample(TaskInfo& task) const;
  profile::Node NodeRow(NodeId node) const;
  void PutFinal(NodeId node, const dag::Command& command);
  // Deals with what the machine ordered; `from` is the first new command. REQUIRES: mutex_ held.
  void Carry(Commands& out, size_t from);
  void PushReady(const dag::Command& command);
  base::AttemptState Conclude(const OpenAttempt& open, AttemptEnd end, profile::Attempt figures, Commands& out);
  void PutEnded(const OpenAttempt& open, AttemptEnd end, base::AttemptState state, profile::Attempt row);
  GpuTask GpuTaskOf(const OpenAttempt& open) const;
  void ShowOnGpuPage(OpenAttempt* open);
  void CountEnded(const OpenAttempt& open, const profile::Attempt& row);
  void FireTimers(int64_t now);
  int64_t NextTimerNs() const;
  void PutOpen();
  void OnRequest(const store::Request& request);
  std::string NodeName(NodeId node) const;
  int64_t Now() const;

  SessionOptions options_;
  profile::Run run_;
  std::string store_folder_;
  Status unopened_;             // why a run that should be stored is not
  int64_t wall_offset_ns_ = 0;  // wall - monotonic at the start
  metrics::RunFamilies* families_ = nullptr;
  std::unique_ptr<store::RunWriter> writer_;
  std::unique_ptr<SamplerProcess> sampler_;

  std::mutex mutex_;
  std::condition_variable ready_changed_[2];
  std::condition_variable state_changed_;
  int idle_[2] = {0, 0};
  int watchers_ = 0;
  std::deque<Ready> ready_[2];
  dag::Machine machine_;
  std::vector<TaskInfo> tasks_;  // [id - 1]
  std::vector<NodeInfo> nodes_;  // [id]; [0] unused
  std::vector<OpenAttempt*> open_;
  std::vector<Timer> timers_;
  Commands pending_;
  NodeId put_nodes_ = 0;  // nodes up to here have a row
  uint64_t last_attempt_ = 0;
  uint32_t last_process_ = 1;
  std::string cancel_reason_;
  Status stacks_problem_;
  bool closed_ = false;
  std::atomic<uint64_t> version_{0};
  std::atomic<bool> over_{false};
};

}  // namespace wf::app

#endif  // WF_APP_RUN_SESSION_H_
