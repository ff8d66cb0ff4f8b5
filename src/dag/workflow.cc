// The public Workflow over the thread pool.
#include "wf/workflow.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "dag/observer.h"
#include "dag/thread_pool.h"

namespace wf {

namespace {

// The public states are a part of those of the model, with the same numbers.
template <typename Public, typename Model>
constexpr bool Same(Public a, Model b) {
  return static_cast<int>(a) == static_cast<int>(b);
}
static_assert(Same(RunState::kCancelled, base::RunState::kCancelled));
static_assert(Same(NodeState::kCancelled, base::NodeState::kCancelled));
static_assert(Same(NodeState::kSkipped, base::NodeState::kSkipped));
static_assert(Same(AttemptState::kCancelled, base::AttemptState::kCancelled));

size_t IndexOf(dag::NodeId node) { return node == dag::kNoNode ? kNoIndex : node - 1; }
dag::NodeId NodeOf(const AnyFuture& future) { return static_cast<dag::NodeId>(future.index() + 1); }

}  // namespace

std::string_view StateName(RunState state) { return base::Name(static_cast<base::RunState>(state)); }
std::string_view StateName(NodeState state) { return base::Name(static_cast<base::NodeState>(state)); }
std::string_view StateName(AttemptState state) { return base::Name(static_cast<base::AttemptState>(state)); }

namespace internal {

struct WorkflowImpl final : dag::Observer {
  explicit WorkflowImpl(std::string workflow_name) : name(std::move(workflow_name)) { pool.AddObserver(this); }

  static WorkflowImpl& Of(Workflow& workflow) { return *workflow.impl_; }

  void NoteFault(Status status);
  Result<dag::NodeSpec> SpecOf(const Task& task, std::vector<dag::LimitId>& leases);
  Status CheckFutures(const std::string& task, const std::vector<AnyFuture>& futures) const;
  Status Verdict();

  void OnNodeAdded(dag::NodeId node, uint32_t task, dag::NodeId parent) override;
  void OnAttemptFinished(const dag::AttemptReading& reading) override;
  void OnSpan(const dag::SpanReading& reading) override;
  void OnNodeFinal(dag::NodeId node, dag::NodeState state, dag::NodeId cause) override;

  const std::string name;
  dag::ThreadPool pool;

  std::mutex mutex;  // of the next four; taken inside the pool's lock, never the other way round
  std::map<std::string, uint32_t, std::less<>> task_ids;
  std::vector<std::string> task_names;
  std::map<std::string, dag::LimitId, std::less<>> limits;
  Status fault;

  // Guarded by the pool's lock; free after the run.
  RunReport report;
  size_t first_failed = kNoIndex;
};

void WorkflowImpl::NoteFault(Status status) {
  const std::lock_guard lock(mutex);
  if (fault.ok()) fault = std::move(status);
}

Result<dag::NodeSpec> WorkflowImpl::SpecOf(const Task& task, std::vector<dag::LimitId>& leases) {
  if (task.name.empty()) return Status(Code::kInvalidArgument, "a task was added without a name; give it one");
  if (task.max_retries < 0 || task.max_retries > std::numeric_limits<uint16_t>::max()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("task '{}' asks for {} retries; 0 to 65535 are possible", task.name, task.max_retries));
  }
  const std::lock_guard lock(mutex);
  for (const std::string& limit : task.limits) {
    const auto found = limits.find(limit);
    if (found == limits.end()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("task '{}' names the limit '{}', which does not exist; declare it first with "
                                "Workflow::Limit",
                                task.name, limit));
    }
    leases.push_back(found->second);
  }
  const auto [entry, added] = task_ids.try_emplace(task.name, static_cast<uint32_t>(task_names.size()));
  if (added) task_names.push_back(task.name);
  dag::NodeSpec spec;
  spec.task = entry->second;
  spec.limits = leases;
  spec.policy = {.max_retries = static_cast<uint16_t>(task.max_retries),
                 .retry_delay_ns = task.retry_delay.count(),
                 .backoff = task.backoff,
                 .max_delay_ns = task.max_delay.count(),
                 .jitter = task.jitter,
                 .timeout_ns = task.timeout.count()};
  return spec;
}

Status WorkflowImpl::CheckFutures(const std::string& task, const std::vector<AnyFuture>& futures) const {
  for (const AnyFuture& future : futures) {
    if (!future.valid()) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("task '{}' needs a future that no Workflow::Add returned, or one whose Add failed", task));
    }
    if (future.owner_ != this) {
      return Status(Code::kInvalidArgument,
                    fmt::format("task '{}' of workflow '{}' needs a future of another workflow", task, name));
    }
  }
  return {};
}

void WorkflowImpl::OnNodeAdded(dag::NodeId /*node*/, uint32_t task, dag::NodeId parent) {
  const std::lock_guard lock(mutex);
  NodeReport& node = report.nodes.emplace_back();
  node.task = task_names[task];
  node.parent = IndexOf(parent);
}

void WorkflowImpl::OnAttemptFinished(const dag::AttemptReading& reading) {
  AttemptReport attempt{.node = IndexOf(reading.node),
                        .number = reading.attempt,
                        .state = static_cast<AttemptState>(reading.state),
                        .ready_ns = reading.ready_ns,
                        .start_ns = reading.start_ns,
                        .end_ns = reading.end_ns,
                        .cpu_ns = reading.cpu_ns};
  NodeReport& node = report.nodes[attempt.node];
  node.attempts = reading.attempt;
  node.wall_ns += attempt.wall_ns();
  node.cpu_ns += attempt.cpu_ns;
  node.error = reading.error;
  node.exception = reading.exception;
  if (attempt.state == AttemptState::kTimeout && reading.error.code() != Code::kTimeout) {
    node.error = Status(Code::kTimeout, fmt::format("it ran into its time-out; it ended after {:.3f} s",
                                                    static_cast<double>(attempt.wall_ns()) / 1e9));
  }
  report.attempts.push_back(attempt);
}

void WorkflowImpl::OnSpan(const dag::SpanReading& reading) {
  report.spans.push_back({.node = IndexOf(reading.node),
                          .attempt = reading.attempt,
                          .depth = reading.depth,
                          .name = reading.name,
                          .start_ns = reading.start_ns,
                          .end_ns = reading.end_ns,
                          .cpu_ns = reading.cpu_ns});
}

void WorkflowImpl::OnNodeFinal(dag::NodeId node, dag::NodeState state, dag::NodeId cause) {
  NodeReport& entry = report.nodes[IndexOf(node)];
  entry.state = static_cast<NodeState>(state);
  if (entry.state == NodeState::kSkipped) entry.cause = IndexOf(cause);
  const bool bad = entry.state == NodeState::kFailed || entry.state == NodeState::kCancelled;
  if (bad && first_failed == kNoIndex) first_failed = IndexOf(node);
}

// The run in one sentence. REQUIRES: the run is over.
Status WorkflowImpl::Verdict() {
  size_t skipped = 0;
  size_t unfinished = 0;
  for (const NodeReport& node : report.nodes) {
    skipped += node.state == NodeState::kSkipped;
    unfinished += node.state == NodeState::kCancelled;
  }
  if (report.state == RunState::kCancelled) {
    return Status(Code::kCancelled, fmt::format("workflow '{}' was cancelled; {} of {} tasks did not end", name,
                                                unfinished, report.nodes.size()));
  }
  if (report.state == RunState::kSuccess || first_failed == kNoIndex) return fault;
  const NodeReport& node = report.nodes[first_failed];
  const std::string others =
      skipped > 0 ? fmt::format(" ({} tasks that depend on failed ones were skipped)", skipped) : "";
  return Status(node.error.ok() ? Code::kInternal : node.error.code(),
                fmt::format("task '{}' of workflow '{}' {} on attempt {}: {}{}", node.task, name, StateName(node.state),
                            node.attempts, node.error.message(), others));
}

}  // namespace internal

Workflow::Workflow(std::string name) : impl_(std::make_unique<internal::WorkflowImpl>(std::move(name))) {}
Workflow::~Workflow() = default;

const std::string& Workflow::name() const { return impl_->name; }

void Workflow::Limit(std::string_view name, uint32_t capacity) {
  Result<dag::LimitId> limit = impl_->pool.AddLimit(name, capacity);
  if (!limit.ok()) return impl_->NoteFault(limit.status());
  const std::lock_guard lock(impl_->mutex);
  impl_->limits.emplace(name, *limit);
}

size_t Workflow::AddNode(const Task& task, std::unique_ptr<internal::TaskBody> body,
                         const std::vector<AnyFuture>& inputs) {
  const auto fail = [this](Status status) {
    impl_->NoteFault(std::move(status));
    return kNoIndex;
  };
  if (Status status = impl_->CheckFutures(task.name, inputs); !status.ok()) return fail(std::move(status));
  std::vector<dag::LimitId> leases;
  Result<dag::NodeSpec> spec = impl_->SpecOf(task, leases);
  if (!spec.ok()) return fail(spec.status());
  std::vector<dag::NodeId> deps;
  deps.reserve(inputs.size());
  for (const AnyFuture& input : inputs) deps.push_back(NodeOf(input));
  spec->data_deps = deps;
  const Result<dag::NodeId> node = impl_->pool.Add(*spec, std::move(body));
  if (!node.ok()) return fail(node.status().WithContext("task '" + task.name + "'"));
  return IndexOf(*node);
}

void Workflow::After(const AnyFuture& later, const AnyFuture& earlier) {
  Status status = impl_->CheckFutures("After", {later, earlier});
  if (status.ok()) status = impl_->pool.AddAfter(NodeOf(later), NodeOf(earlier));
  if (!status.ok()) impl_->NoteFault(std::move(status));
}

RunReport Workflow::Run(const RunOptions& options) {
  internal::WorkflowImpl& impl = *impl_;
  RunReport failed;
  failed.state = RunState::kFailed;
  {
    const std::lock_guard lock(impl.mutex);
    failed.status = impl.fault;
  }
  if (!failed.status.ok()) return failed;
  const int64_t start_ns = base::MonotonicNs();
  failed.status = impl.pool.Run({.threads = options.threads, .stop = options.stop, .max_spans = options.max_spans},
                                [&impl](dag::NodeId node) { return impl.report.nodes[IndexOf(node)].task; });
  if (!failed.status.ok()) return failed;
  RunReport& report = impl.report;
  report.state = static_cast<RunState>(impl.pool.run_state());
  report.start_ns = start_ns;
  report.end_ns = base::MonotonicNs();
  report.spans_dropped = impl.pool.spans_dropped();
  report.status = impl.Verdict();
  if (!report.status.ok() && report.state == RunState::kSuccess) report.state = RunState::kFailed;
  return std::move(report);
}

void Workflow::Cancel() { impl_->pool.Cancel(); }

void dag::Observe(Workflow& workflow, Observer* observer) {
  internal::WorkflowImpl::Of(workflow).pool.AddObserver(observer);
}

}  // namespace wf
