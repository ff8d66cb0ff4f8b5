#include "app/run_session.h"

#include <fmt/format.h>

#include "app/gpu_watch.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/version.h"
#include "metrics/registry.h"
#include "probe/machine.h"

namespace wf::app {
namespace {

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
  if (!session->options_.stored) return session;
  Status opened = session->OpenStore();
  const bool is_disk = opened.code() == Code::kIo || opened.code() == Code::kPermissionDenied;
  if (!opened.ok() && (session->options_.needs_store || !is_disk)) return opened;
  session->unopened_ = std::move(opened);
  session->StartSampler();
  return session;
}

RunSession::~RunSession() {
  if (!closed_) (void)Close(base::RunState::kFailed, "abandoned: the run was dropped before its end");
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
  if (sampler_ != nullptr) {
    Status sampled = sampler_->Stop();
    const std::lock_guard lock(mutex_);
    if (stacks_problem_.ok()) stacks_problem_ = std::move(sampled);
  }
  writer_->PutRun(run_);
  return writer_->Close();
}

int64_t RunSession::Now() const { return base::MonotonicNs(); }

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

Status RunSession::StacksProblem() {
  const std::lock_guard lock(mutex_);
  return stacks_problem_;
}

std::string RunSession::CancelReason() {
  const std::lock_guard lock(mutex_);
  return cancel_reason_;
}

std::string RunSession::NodeName(NodeId node) const {
  if (node == 0 || node >= nodes_.size()) return "an unknown node";
  const NodeInfo& info = nodes_[node];
  std::string name = info.task == 0 ? "?" : tasks_[info.task - 1].task.name;
  if (info.map_index >= 0) name += fmt::format("[{}]", info.map_index);
  return name;
}

}  // namespace wf::app
