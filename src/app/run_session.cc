#include "app/run_session.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "app/gpu_watch.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/redact.h"
#include "base/version.h"
#include "metrics/registry.h"
#include "probe/machine.h"
#include "probe/readings.h"

namespace wf::app {
namespace {

int32_t CurrentTid() {
  thread_local const auto tid = static_cast<int32_t>(syscall(SYS_gettid));
  return tid;
}

void WaitOn(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, int64_t until_ns) {
  if (until_ns == INT64_MAX) {
    changed.wait(lock);
    return;
  }
  // steady_clock is CLOCK_MONOTONIC on Linux, the clock of the model.
  changed.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns)));
}

profile::Process OwnProcess(const probe::Machine& machine) {
  profile::Process process;
  process.id = 1;
  process.host = machine.host;
  process.pid = getpid();
  process.start_ticks = probe::StartTicks(process.pid);
  process.boot_id = machine.boot_id;
  process.anchor_monotonic_ns = base::MonotonicNs();
  process.anchor_wall_ns = base::WallNs();
  process.name = "owner";
  return process;
}

// The metrics of this process, under the prefix that was chosen first.
Result<metrics::RunFamilies*> ProcessFamilies() {
  return metrics::DefaultRunFamilies({metrics::DefaultNamePrefix(), std::string(Version())});
}

}  // namespace

RunSession::RunSession(SessionOptions options) : options_(std::move(options)), nodes_(1) {}

Result<std::unique_ptr<RunSession>> RunSession::Begin(SessionOptions options) {
  std::unique_ptr<RunSession> session(new RunSession(std::move(options)));
  profile::Run& run = session->run_;
  const probe::Machine machine = probe::ReadMachine();
  run = session->options_.run;
  run.id = base::RunId::Make();
  run.usable_cpus_milli = machine.usable_cpus_milli;
  run.state = base::RunState::kRunning;
  run.start_ns = base::MonotonicNs();
  run.start_wall_ns = base::WallNs();
  session->wall_offset_ns_ = run.start_wall_ns - run.start_ns;
  auto families = ProcessFamilies();
  if (!families.ok()) return families.status();
  session->families_ = *families;
  StartGpuWatch();
  if (session->options_.stored) WF_RETURN_IF_ERROR(session->OpenStore());
  return session;
}

Status RunSession::OpenStore() {
  const auto folder = store::Locate(options_.store_folder);
  auto store = store::Store::Open(folder, store::Access::kReadWrite);
  if (!store.ok()) return store.status();
  auto writer = (*store)->BeginRun(run_, OwnProcess(probe::ReadMachine()));
  if (!writer.ok()) return writer.status();
  store_folder_ = folder.string();
  writer_ = std::move(*writer);
  writer_->SetBeforeFlush([this] {
    thread_local bool registered = false;
    if (!registered) probe::RegisterServiceThread();
    registered = true;
    PutOpen();
  });
  writer_->SetOnRequest([this](const store::Request& request) { OnRequest(request); });
  return {};
}

RunSession::~RunSession() {
  if (!closed_) (void)Close(base::RunState::kFailed, "abandoned: the run was dropped before its end");
}

int64_t RunSession::Now() const { return base::MonotonicNs(); }

// ---- building

Result<uint32_t> RunSession::AddTask(const profile::Task& task, const TaskOptions& options) {
  const std::lock_guard lock(mutex_);
  for (const TaskInfo& known : tasks_) {
    if (known.task.name != task.name) continue;
    if (known.task.qualname == task.qualname && known.task.file == task.file) return known.task.id;
    return Status(
        Code::kAlreadyExists,
        fmt::format("two different functions are named \"{}\" in this run: {} ({}:{}) and {} ({}:{}). Give one "
                    "of them another name: @task(name=\"...\")",
                    task.name, known.task.qualname, known.task.file, known.task.line, task.qualname, task.file,
                    task.line));
  }
  TaskInfo info{task, options, nullptr, 0};
  info.task.id = static_cast<uint32_t>(tasks_.size() + 1);
  info.metrics = families_->Task(run_.workflow, task.name);
  if (writer_) writer_->PutTask(info.task);
  tasks_.push_back(std::move(info));
  return tasks_.back().task.id;
}

Result<NodeId> RunSession::AddNode(const NodeRequest& request, Commands& out) {
  const std::lock_guard lock(mutex_);
  const size_t from = out.size();
  dag::NodeSpec spec;
  spec.task = request.task;
  spec.data_deps = request.data_deps;
  spec.after_deps = request.after_deps;
  spec.parent = request.parent;
  // The node must be known before the machine's commands about it are carried out.
  nodes_.push_back({request.task, static_cast<int32_t>(request.map_index), request.queue, 0});
  auto node = machine_.AddNode(spec, Now(), out);
  if (!node.ok()) {
    nodes_.pop_back();
    return node;
  }
  WF_CHECK(*node + 1 == nodes_.size());
  if (writer_) {
    for (const NodeId dep : request.data_deps) {
      const profile::Edge edge{dep, *node, profile::EdgeKind::kData, {}};
      writer_->PutEdges(&edge, 1);
    }
    for (const NodeId dep : request.after_deps) {
      const profile::Edge edge{dep, *node, profile::EdgeKind::kAfter, {}};
      writer_->PutEdges(&edge, 1);
    }
  }
  if (out.size() != from || machine_.started()) Carry(out, from);
  return node;
}

Status RunSession::Start(Commands& out) {
  const std::lock_guard lock(mutex_);
  const size_t from = out.size();
  WF_RETURN_IF_ERROR(machine_.Start(Now(), out, [this](NodeId node) { return NodeName(node); }));
  Carry(out, from);
  return {};
}

void RunSession::BodyEnded(dag::BodyOutcome outcome, Commands& out) {
  const std::lock_guard lock(mutex_);
  const size_t from = out.size();
  machine_.BodyEnded(outcome, Now(), out);
  Carry(out, from);
}

// ---- commands of the machine

void RunSession::Carry(Commands& out, size_t from) {
  size_t kept = from;
  bool changed = false;
  int fresh[2] = {0, 0};
  for (size_t i = from; i < out.size(); ++i) {
    const dag::Command command = out[i];
    switch (command.kind) {
      case dag::CommandKind::kReady:
        PushReady(command);
        ++fresh[static_cast<size_t>(nodes_[command.node].queue)];
        continue;
      case dag::CommandKind::kSetTimer:
        timers_.push_back({command.at_ns, command.node, command.attempt, command.timer});
        std::push_heap(timers_.begin(), timers_.end());
        ready_changed_[0].notify_one();
        continue;
      case dag::CommandKind::kNodeFinal:
        PutFinal(command.node, command);
        changed = true;
        break;
      case dag::CommandKind::kRunFinal:
        over_.store(true, std::memory_order_release);
        for (auto& queue : ready_changed_) queue.notify_all();
        changed = true;
        break;
      case dag::CommandKind::kCancelAttempt: break;
    }
    out[kept++] = command;
  }
  out.resize(kept);
  for (size_t queue = 0; queue < 2; ++queue) {
    for (int wake = std::min(fresh[queue], idle_[queue]); wake > 0; --wake) ready_changed_[queue].notify_one();
  }
  if (!changed) return;
  version_.fetch_add(1, std::memory_order_acq_rel);
  if (watchers_ > 0) state_changed_.notify_all();
}

void RunSession::PushReady(const dag::Command& command) {
  NodeInfo& node = nodes_[command.node];
  node.ready_ns = Now();
  ready_[static_cast<size_t>(node.queue)].push_back({command.node, command.attempt});
}

profile::Node RunSession::NodeRow(NodeId node) const {
  const NodeInfo& info = nodes_[node];
  profile::Node row;
  row.id = node;
  row.task = info.task;
  row.map_index = info.map_index;
  row.parent = machine_.ParentOf(node);
  row.state = machine_.StateOf(node);
  row.ready_ns = info.ready_ns;
  return row;
}

void RunSession::PutFinal(NodeId node, const dag::Command& command) {
  if (!writer_) return;
  profile::Node row = NodeRow(node);
  row.state = command.node_state;
  row.end_ns = Now();
  if (command.node_state == base::NodeState::kSkipped) {
    row.cause_node = command.cause;
    row.cause = "skipped because " + NodeName(command.cause) + " did not succeed";
  } else if (command.node_state == base::NodeState::kCancelled) {
    row.cause = cancel_reason_;
  }
  writer_->PutNode(row);
}

std::string RunSession::NodeName(NodeId node) const {
  if (node == 0 || node >= nodes_.size()) return "an unknown node";
  const NodeInfo& info = nodes_[node];
  std::string name = info.task == 0 ? "?" : tasks_[info.task - 1].task.name;
  if (info.map_index >= 0) name += fmt::format("[{}]", info.map_index);
  return name;
}

// ---- taking and running

bool RunSession::TakeReady(Queue queue, int64_t timeout_ns, Ready* ready) {
  const auto index = static_cast<size_t>(queue);
  std::unique_lock lock(mutex_);
  const int64_t until = timeout_ns < 0 ? INT64_MAX : timeout_ns == 0 ? 0 : Now() + timeout_ns;
  for (;;) {
    if (!timers_.empty()) FireTimers(Now());
    if (!ready_[index].empty()) {
      *ready = ready_[index].front();
      ready_[index].pop_front();
      return true;
    }
    if (closed_ || over_.load(std::memory_order_relaxed)) return false;
    if (until == 0 || (until != INT64_MAX && Now() >= until)) return false;
    ++idle_[index];
    WaitOn(ready_changed_[index], lock, std::min(until, NextTimerNs()));
    --idle_[index];
  }
}

void RunSession::FireTimers(int64_t now) {
  while (!timers_.empty() && timers_.front().at_ns <= now) {
    std::pop_heap(timers_.begin(), timers_.end());
    const Timer timer = timers_.back();
    timers_.pop_back();
    const size_t from = pending_.size();
    machine_.TimerFired(timer.node, timer.attempt, timer.kind, now, pending_);
    Carry(pending_, from);
  }
}

int64_t RunSession::NextTimerNs() const { return timers_.empty() ? INT64_MAX : timers_.front().at_ns; }

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
  if (writer_) writer_->PutAttempt(row);
  open_.back()->slot = open.slot;
  std::swap(open_[open.slot], open_.back());
  open_.pop_back();
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

// ---- cancel, waiting, questions

void RunSession::Cancel(std::string reason, Commands& out) {
  const std::lock_guard lock(mutex_);
  if (cancel_reason_.empty()) cancel_reason_ = std::move(reason);
  const size_t from = out.size();
  machine_.Cancel(Now(), out);
  Carry(out, from);
}

void RunSession::OnRequest(const store::Request& request) {
  if (request.kind != static_cast<uint8_t>(store::RequestKind::kCancel)) return;
  const std::lock_guard lock(mutex_);
  if (cancel_reason_.empty()) {
    cancel_reason_ = request.detail.empty() ? "cancelled by another process" : request.detail;
  }
  const size_t from = pending_.size();
  machine_.Cancel(Now(), pending_);
  Carry(pending_, from);
  version_.fetch_add(1, std::memory_order_acq_rel);
  state_changed_.notify_all();
}

void RunSession::TakePending(Commands* out) {
  const std::lock_guard lock(mutex_);
  out->insert(out->end(), pending_.begin(), pending_.end());
  pending_.clear();
}

void RunSession::WaitChange(uint64_t seen_version, int64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const int64_t until = timeout_ns < 0 ? INT64_MAX : Now() + timeout_ns;
  ++watchers_;
  while (!closed_ && !over_.load(std::memory_order_relaxed) && Version() == seen_version) {
    const int64_t now = Now();
    if (!timers_.empty()) FireTimers(now);
    if (now >= until || Version() != seen_version) break;
    WaitOn(state_changed_, lock, std::min(until, NextTimerNs()));
  }
  --watchers_;
}

bool RunSession::Finished() { return over_.load(std::memory_order_acquire); }

dag::Machine::StateCounts RunSession::Counts() {
  const std::lock_guard lock(mutex_);
  return machine_.Counts();
}

std::string RunSession::Explain() {
  const std::lock_guard lock(mutex_);
  return machine_.Explain([this](NodeId node) { return NodeName(node); });
}

Status RunSession::CheckProgress() {
  const std::lock_guard lock(mutex_);
  return machine_.CheckProgress([this](NodeId node) { return NodeName(node); });
}

std::string RunSession::CancelReason() {
  const std::lock_guard lock(mutex_);
  return cancel_reason_;
}

// ---- the store

void RunSession::PutOpen() {
  const std::lock_guard lock(mutex_);
  const auto last = static_cast<NodeId>(nodes_.size() - 1);
  for (NodeId node = put_nodes_ + 1; node <= last; ++node) {
    if (!base::IsFinal(machine_.StateOf(node))) writer_->PutNode(NodeRow(node));
  }
  put_nodes_ = last;
  for (const OpenAttempt* open : open_) {
    profile::Attempt row;
    row.id = open->id;
    row.node = open->node;
    row.number = static_cast<int32_t>(open->number);
    row.start_ns = open->start_ns;
    row.worker = open->worker;
    row.process = 1;
    row.tid = open->tid;
    row.sampled = open->sampled;
    writer_->PutAttempt(row);
    writer_->PutNode(NodeRow(open->node));
  }
}

void RunSession::AddLog(profile::LogLine line) {
  if (!writer_) return;
  line.text = base::RedactText(line.text);
  writer_->AddLog(std::move(line));
}

uint32_t RunSession::AddProcess(int32_t pid, const std::string& name) {
  profile::Process process = OwnProcess(probe::ReadMachine());
  process.pid = pid;
  process.start_ticks = probe::StartTicks(pid);
  process.name = name;
  WatchPid(pid);
  const std::lock_guard lock(mutex_);
  process.id = ++last_process_;
  if (writer_) writer_->PutProcess(process);
  return process.id;
}

void RunSession::SetOnStoreError(std::function<void(const Status&)> hook) {
  if (writer_) writer_->SetOnError(std::move(hook));
}

void RunSession::Flush() {
  if (writer_) (void)writer_->Flush();
}

Status RunSession::Close(base::RunState state, std::string cause) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    closed_ = true;
    run_.state = state;
    run_.cause = std::move(cause);
    run_.end_ns = Now();
    for (auto& queue : ready_changed_) queue.notify_all();
    state_changed_.notify_all();
  }
  if (state == base::RunState::kSuccess) families_->WorkflowSucceeded(run_.workflow, base::WallNs());
  if (!writer_) return {};
  writer_->PutRun(run_);
  return writer_->Close();
}

}  // namespace wf::app
