// RunSession: attempts from their begin to their row and their metrics.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "app/gpu_watch.h"
#include "app/run_session.h"

namespace wf::app {
namespace {

int32_t CurrentTid() {
  thread_local const auto tid = static_cast<int32_t>(syscall(SYS_gettid));
  return tid;
}

}  // namespace

TaskOptions::Mode RunSession::ModeOf(const TaskInfo& task) const {
  const bool own = task.options.mode != TaskOptions::Mode::kInherit && !options_.mode_overrides;
  if (own) return task.options.mode;
  switch (options_.mode) {
    case Mode::kOff: return TaskOptions::Mode::kOff;
    case Mode::kSample: return TaskOptions::Mode::kSample;
    default: return TaskOptions::Mode::kAlways;
  }
}

bool RunSession::ShouldSample(TaskInfo& task) const {
  const uint32_t before = task.attempts++;
  const auto mode = ModeOf(task);
  if (mode == TaskOptions::Mode::kOff) return false;
  if (mode == TaskOptions::Mode::kAlways) return true;
  const int every = task.options.every > 0 ? task.options.every : options_.every;
  return before % static_cast<uint32_t>(std::max(every, 1)) == 0;
}

void RunSession::RegisterOpen(OpenAttempt* open, const Ready& ready, int32_t worker) {
  const NodeInfo& node = nodes_[ready.node];
  TaskInfo& task = tasks_[node.task - 1];
  open->node = ready.node;
  open->number = ready.attempt;
  open->id = ++last_attempt_;
  open->task = node.task;
  open->worker = worker;
  open->sampled = ShouldSample(task);
  open->cpu = options_.cpu_overrides ? options_.cpu : task.options.cpu.value_or(options_.cpu);
  open->measured = ModeOf(task) != TaskOptions::Mode::kOff;
  open->slot = static_cast<uint32_t>(open_.size());
  open->start_ns = Now();
  open_.push_back(open);
  task.metrics->AttemptStarted(open->start_ns + wall_offset_ns_);
  if (ready.attempt > 1) {
    task.metrics->CountRetry();
  } else {
    task.metrics->ObserveQueue(open->start_ns - node.ready_ns);
  }
}

bool RunSession::BeginAttempt(const Ready& ready, int32_t worker, OpenAttempt* open, Commands& out) {
  open->tid = CurrentTid();
  if (!BeginRemote(ready, worker, open, out)) return false;
  if (GpuIsWatched()) ShowOnGpuPage(open);
  open->meter.Begin(probe::Depth::kOverOneMs);
  return true;
}

bool RunSession::BeginRemote(const Ready& ready, int32_t worker, OpenAttempt* open, Commands& out) {
  const std::lock_guard lock(mutex_);
  const size_t from = out.size();
  const bool may_run = machine_.AttemptStarted(ready.node, ready.attempt, Now(), out);
  if (may_run) RegisterOpen(open, ready, worker);
  if (out.size() != from) Carry(out, from);
  return may_run;
}

base::AttemptState RunSession::EndAttempt(OpenAttempt* open, AttemptEnd end, Commands& out) {
  probe::AttemptCost cost = open->meter.End();
  profile::Attempt row;
  row.start_ns = cost.start_ns;
  row.end_ns = cost.end_ns;
  row.process = 1;
  row.tid = open->tid;
  row.usage = cost.usage;
  FillGpu(cost.start_ns, cost.end_ns, &row.usage);
  row.usage.cpus_allocated_milli = run_.usable_cpus_milli;
  return Conclude(*open, std::move(end), std::move(row), out);
}

base::AttemptState RunSession::EndRemote(OpenAttempt* open, AttemptEnd end, const RemoteFigures& figures,
                                         Commands& out) {
  profile::Attempt row;
  row.start_ns = figures.start_ns;
  row.end_ns = figures.end_ns;
  row.process = figures.process;
  row.tid = figures.tid;
  row.usage = figures.usage;
  row.usage.cpus_allocated_milli = run_.usable_cpus_milli;
  return Conclude(*open, std::move(end), std::move(row), out);
}

base::AttemptState RunSession::Conclude(const OpenAttempt& open, AttemptEnd end, profile::Attempt figures,
                                        Commands& out) {
  const std::lock_guard lock(mutex_);
  const size_t from = out.size();
  const auto verdict = machine_.AttemptFinished(open.node, open.number, end.outcome, figures.end_ns, out);
  const auto state = verdict.accepted ? verdict.state : base::AttemptState::kCancelled;
  PutEnded(open, std::move(end), state, std::move(figures));
  Carry(out, from);
  return state;
}

// `row` has the figures; the rest of it is filled in here. REQUIRES: mutex_ held.
void RunSession::PutEnded(const OpenAttempt& open, AttemptEnd end, base::AttemptState state, profile::Attempt row) {
  row.id = open.id;
  row.node = open.node;
  row.number = static_cast<int32_t>(open.number);
  row.worker = open.worker;
  row.state = state;
  row.cause = std::move(end.cause);
  row.traceback = std::move(end.traceback);
  row.sampled = open.sampled;
  if (!open.measured) row.usage = {};
  if (!open.cpu) row.usage.cpu_ns = row.usage.cpu_wait_ns = {};
  CountEnded(open, row);
  if (open.on_gpu_page) GpuTaskEnded(GpuTaskOf(open));
  if (writer_) writer_->PutAttempt(row);
  open_.back()->slot = open.slot;
  std::swap(open_[open.slot], open_.back());
  open_.pop_back();
}

GpuTask RunSession::GpuTaskOf(const OpenAttempt& open) const {
  return {open.worker_pid, run_.workflow, tasks_[open.task - 1].task.name};
}

void RunSession::ShowOnGpuPage(OpenAttempt* open) {
  const std::lock_guard lock(mutex_);
  open->on_gpu_page = open->measured;
  if (open->measured) GpuTaskStarted(families_, GpuTaskOf(*open));
}

void RunSession::SetWorkerPid(OpenAttempt* open, int32_t pid) {
  if (!GpuIsWatched() || open->on_gpu_page) return;
  open->worker_pid = pid;
  ShowOnGpuPage(open);
}

void RunSession::CountEnded(const OpenAttempt& open, const profile::Attempt& row) {
  metrics::TaskMetrics& metrics = *tasks_[open.task - 1].metrics;
  metrics.AttemptEnded(open.start_ns + wall_offset_ns_);
  if (!open.measured) return;
  const profile::Figure& cpu = row.usage.cpu_ns;
  metrics.ObserveAttempt(base::LabelOf(row.state), row.end_ns - row.start_ns, cpu.present() ? cpu.value : -1);
  const profile::Figure& memory = row.usage.memory_peak_bytes;
  if (memory.present()) metrics.SetMemoryPeak(static_cast<uint64_t>(memory.value));
}

void RunSession::WorkerLost(OpenAttempt* open, bool innocent, const std::string& cause, Commands& out) {
  AttemptEnd end{dag::Outcome::kLost, cause, ""};
  profile::Attempt row;
  row.start_ns = open->start_ns;
  row.end_ns = Now();
  if (!innocent) {
    Conclude(*open, std::move(end), std::move(row), out);
    return;
  }
  const std::lock_guard lock(mutex_);
  const size_t from = out.size();
  machine_.WorkerLost(open->node, open->number, true, row.end_ns, out);
  PutEnded(*open, std::move(end), base::AttemptState::kLost, std::move(row));
  Carry(out, from);
}

void RunSession::RecordCall(uint32_t task, const profile::Attempt& attempt) {
  if (!writer_) return;
  const std::lock_guard lock(mutex_);
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({task, -1, Queue::kMain, attempt.start_ns});
  put_nodes_ = id;
  profile::Node node;
  node.id = id;
  node.task = task;
  node.state = attempt.state == base::AttemptState::kSuccess ? base::NodeState::kSuccess : base::NodeState::kFailed;
  node.ready_ns = attempt.start_ns;
  node.end_ns = attempt.end_ns;
  profile::Attempt row = attempt;
  row.id = ++last_attempt_;
  row.node = id;
  row.process = 1;
  writer_->PutNode(node);
  writer_->PutAttempt(row);
}

}  // namespace wf::app
