#include "dag/thread_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "dag/span_record.h"

namespace wf::dag {

namespace {

bool Later(const Command& a, const Command& b) { return a.at_ns > b.at_ns; }

// What came of one call of a body.
struct Returned {
  Status error;
  std::exception_ptr exception;
};

// The edge between the user's exceptions and our Status.
Returned Call(internal::TaskBody& body, const std::stop_token& stop) noexcept {
  try {
    return {.error = body.Run(stop), .exception = nullptr};
  } catch (const std::exception& e) {
    return {.error = Status(Code::kInternal, e.what()), .exception = std::current_exception()};
  } catch (...) {
    return {.error = Status(Code::kInternal, "it threw something that is no std::exception"),
            .exception = std::current_exception()};
  }
}

Outcome OutcomeOf(const Status& error) {
  switch (error.code()) {
    case Code::kOk: return Outcome::kSuccess;
    case Code::kTimeout: return Outcome::kTimeout;
    case Code::kCancelled: return Outcome::kCancelled;
    default: return Outcome::kError;
  }
}

}  // namespace

ThreadPool::~ThreadPool() { WF_CHECK(workers_.empty()); }

void ThreadPool::Aftermath::Settle() {
  for (std::stop_source& stop : stops) stop.request_stop();
  stops.clear();
  for (const std::unique_ptr<internal::TaskBody>& body : discard) body->Discard();
  discard.clear();
  done.clear();
}

// ---- building

Result<LimitId> ThreadPool::AddLimit(std::string_view name, uint32_t capacity) {
  const Lock lock(mutex_);
  return machine_.AddLimit(name, capacity);
}

Result<NodeId> ThreadPool::Add(NodeSpec spec, std::unique_ptr<internal::TaskBody> body) {
  Aftermath after;
  Lock lock(mutex_);
  const SpanRecord* const caller = SpanRecord::Current();
  spec.parent = caller != nullptr && caller->owner() == this ? caller->node() : kNoNode;
  nodes_.emplace_back().body = std::move(body);
  const int64_t now = base::MonotonicNs();
  Result<NodeId> id = machine_.AddNode(spec, now, commands_);
  if (id.ok()) {
    for (Observer* const observer : observers_) observer->OnNodeAdded(*id, spec.task, spec.parent);
  } else {
    after.discard.push_back(std::move(nodes_.back().body));
    nodes_.pop_back();
  }
  CarryOut(now, after);
  lock.unlock();
  after.Settle();
  return id;
}

Status ThreadPool::AddAfter(NodeId node, NodeId dep) {
  Aftermath after;
  Lock lock(mutex_);
  Status status = machine_.AddAfter(node, dep, commands_);
  CarryOut(base::MonotonicNs(), after);
  lock.unlock();
  after.Settle();
  return status;
}

void ThreadPool::Cancel() {
  Aftermath after;
  Lock lock(mutex_);
  const int64_t now = base::MonotonicNs();
  machine_.Cancel(now, commands_);
  CarryOut(now, after);
  lock.unlock();
  after.Settle();
}

RunState ThreadPool::run_state() {
  const Lock lock(mutex_);
  return machine_.run_state();
}

uint64_t ThreadPool::spans_dropped() {
  const Lock lock(mutex_);
  return spans_dropped_;
}

// ---- commands

void ThreadPool::CarryOut(int64_t now, Aftermath& after) {
  const size_t had_work = ready_.size();
  for (const Command& command : commands_) CarryOutOne(command, now, after);
  commands_.clear();
  for (size_t i = std::min(ready_.size() - had_work, idle_); i > 0; --i) work_.notify_one();
}

void ThreadPool::CarryOutOne(const Command& command, int64_t now, Aftermath& after) {
  switch (command.kind) {
    case CommandKind::kReady:
      nodes_[command.node].ready_ns = now;
      ready_.push_back(command);
      for (Observer* const observer : observers_) observer->OnNodeReady(command.node, command.attempt, now);
      break;
    case CommandKind::kCancelAttempt:
      if (nodes_[command.node].stop.stop_possible()) after.stops.push_back(nodes_[command.node].stop);
      break;
    case CommandKind::kSetTimer:
      timers_.push_back(command);
      std::push_heap(timers_.begin(), timers_.end(), Later);
      if (timers_.front().at_ns == command.at_ns) timing_.notify_one();
      break;
    case CommandKind::kNodeFinal: {
      const bool success = command.node_state == NodeState::kSuccess;
      (success ? after.done : after.discard).push_back(std::move(nodes_[command.node].body));
      for (Observer* const observer : observers_) {
        observer->OnNodeFinal(command.node, command.node_state, command.cause);
      }
      break;
    }
    case CommandKind::kRunFinal:
      over_ = true;
      work_.notify_all();
      timing_.notify_one();
      for (Observer* const observer : observers_) observer->OnRunFinal(command.run_state);
      break;
  }
}

// ---- the run

Status ThreadPool::Run(const PoolOptions& options, const Machine::NodeNamer& namer) {
  {
    Aftermath after;
    Lock lock(mutex_);
    if (ran_)
      return Status(Code::kFailedPrecondition, "this workflow has run already; build a new one for another run");
    ran_ = true;
    spans_left_ = options.max_spans;
    const int64_t now = base::MonotonicNs();
    WF_RETURN_IF_ERROR(machine_.Start(now, commands_, namer));
    machine_.BodyEnded(BodyOutcome::kSuccess, now, commands_);
    CarryOut(now, after);
    lock.unlock();
    after.Settle();
  }
  const unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  Status status = StartWorkers(options.threads > 0 ? options.threads : cpus);
  if (!status.ok()) Cancel();  // nothing runs, so that all is final at once
  {
    const std::stop_callback on_stop(options.stop, [this] { Cancel(); });
    Lock lock(mutex_);
    ServeTimers(lock);
  }
  workers_.clear();  // joins
  return status.ok() ? stuck_ : status;
}

Status ThreadPool::StartWorkers(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) {
    try {
      workers_.emplace_back([this] { RunWorker(); });
    } catch (const std::system_error& e) {
      if (!workers_.empty()) return {};  // fewer will do
      return Status(Code::kUnavailable,
                    fmt::format("no thread could be started for the workflow ({}); see the limits on threads and "
                                "processes of this user or container",
                                e.what()));
    }
  }
  return {};
}

void ThreadPool::ServeTimers(Lock& lock) {
  Aftermath after;
  while (!over_) {
    const int64_t now = base::MonotonicNs();
    if (timers_.empty()) {
      timing_.wait(lock);
    } else if (timers_.front().at_ns > now) {
      // At most an hour at once: the sum with the clock of wait_for must not overflow.
      constexpr int64_t kHour = 3'600'000'000'000;
      timing_.wait_for(lock, std::chrono::nanoseconds(std::min(timers_.front().at_ns - now, kHour)));
    } else {
      const Command timer = timers_.front();
      std::pop_heap(timers_.begin(), timers_.end(), Later);
      timers_.pop_back();
      machine_.TimerFired(timer.node, timer.attempt, timer.timer, now, commands_);
      CarryOut(now, after);
      if (after.empty()) continue;
      lock.unlock();
      after.Settle();
      lock.lock();
    }
  }
}

void ThreadPool::RunWorker() {
  Aftermath after;
  Lock lock(mutex_);
  while (true) {
    if (ready_.empty() && !over_ && stuck_.ok()) {
      stuck_ = machine_.CheckProgress();
      if (!stuck_.ok()) {
        machine_.Cancel(base::MonotonicNs(), commands_);
        CarryOut(base::MonotonicNs(), after);
      }
    }
    while (ready_.empty() && !over_) {
      ++idle_;
      work_.wait(lock);
      --idle_;
    }
    if (over_) return;
    const Command next = ready_.front();
    ready_.pop_front();
    RunAttempt(lock, next, after);
  }
}

void ThreadPool::RunAttempt(Lock& lock, const Command& ready, Aftermath& after) {
  AttemptReading reading{.node = ready.node, .attempt = ready.attempt, .error = {}, .exception = nullptr};
  reading.start_ns = base::MonotonicNs();
  if (!machine_.AttemptStarted(ready.node, ready.attempt, reading.start_ns, commands_)) return;
  CarryOut(reading.start_ns, after);
  internal::TaskBody* const body = nodes_[ready.node].body.get();
  if (body->wants_stop()) nodes_[ready.node].stop = std::stop_source();
  const std::stop_token token = nodes_[ready.node].stop.get_token();
  reading.ready_ns = nodes_[ready.node].ready_ns;
  for (Observer* const observer : observers_) {
    observer->OnAttemptStarted(ready.node, ready.attempt, reading.start_ns);
  }
  const size_t max_spans = spans_left_;
  lock.unlock();

  after.Settle();
  std::vector<SpanReading> spans;
  uint64_t dropped = 0;
  {
    SpanRecord record(this, ready.node, ready.attempt, max_spans);
    const int64_t cpu_ns = base::ThreadCpuNs();
    Returned returned = Call(*body, token);
    reading.cpu_ns = base::ThreadCpuNs() - cpu_ns;
    reading.error = std::move(returned.error);
    reading.exception = std::move(returned.exception);
    spans.swap(record.spans());
    dropped = record.dropped();
  }

  lock.lock();
  reading.end_ns = base::MonotonicNs();
  nodes_[ready.node].stop = std::stop_source(std::nostopstate);
  const AttemptVerdict verdict =
      machine_.AttemptFinished(ready.node, ready.attempt, OutcomeOf(reading.error), reading.end_ns, commands_);
  reading.state = verdict.state;
  reading.retried = verdict.retried;
  ReportSpans(spans, dropped);
  for (Observer* const observer : observers_) observer->OnAttemptFinished(reading);
  CarryOut(reading.end_ns, after);
  lock.unlock();
  after.Settle();
  lock.lock();
}

void ThreadPool::ReportSpans(std::vector<SpanReading>& spans, uint64_t dropped) {
  spans_dropped_ += dropped;
  for (SpanReading& span : spans) {
    if (spans_left_ == 0) {
      ++spans_dropped_;
      continue;
    }
    --spans_left_;
    for (Observer* const observer : observers_) observer->OnSpan(span);
  }
}

}  // namespace wf::dag
