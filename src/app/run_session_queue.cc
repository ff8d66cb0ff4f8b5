// RunSession: what the machine orders, who takes and waits for it, and the end that a user or another process wants.
#include <algorithm>
#include <chrono>

#include "app/run_session.h"

namespace wf::app {
namespace {

void WaitOn(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, int64_t until_ns) {
  if (until_ns == INT64_MAX) {
    changed.wait(lock);
    return;
  }
  // steady_clock is CLOCK_MONOTONIC on Linux, the clock of the model.
  changed.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns)));
}

}  // namespace

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

}  // namespace wf::app
