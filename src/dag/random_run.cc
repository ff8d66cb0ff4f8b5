#include "dag/random_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wf::dag {

namespace {

template <typename T>
T TakeAt(std::vector<T>& from, size_t index) {
  T taken = from[index];
  from.erase(from.begin() + static_cast<ptrdiff_t>(index));
  return taken;
}

bool IsFailure(AttemptState state) {
  return state == AttemptState::kError || state == AttemptState::kTimeout || state == AttemptState::kLost;
}

}  // namespace

RandomRun::RandomRun(uint64_t seed) : random_(seed), machine_({.jitter_seed = seed}) {}

void RandomRun::Broken(const std::string& rule, NodeId node) {
  if (broken_.empty()) broken_ = fmt::format("{} (node {})\n{}", rule, node, machine_.Explain());
}

bool RandomRun::Done(NodeId id) const {
  return nodes_[id].final_state == NodeState::kSuccess || nodes_[id].final_state == NodeState::kCached;
}

std::string RandomRun::Play() {
  Build();
  if (!machine_.Start(now_, out_).ok()) Broken("a run without a cycle does not start");
  Absorb();
  constexpr int kWatchdog = 20'000;
  for (int step = 0; !run_final_ && broken_.empty(); ++step) {
    if (step == kWatchdog) Broken("no end in sight");
    Step();
  }
  // The run is over: whatever comes now does nothing.
  for (int i = 0; i < 5 && broken_.empty(); ++i) SendStrayEvent();
  return broken_;
}

// ---- the random choices

void RandomRun::Build() {
  for (uint32_t i = Draw(4); i > 0; --i) {
    capacity_.push_back(1 + Draw(3));
    in_use_.push_back(0);
    (void)*machine_.AddLimit(std::string(1, static_cast<char>('a' + i)), capacity_.back());
  }
  const uint32_t first = Draw(30);
  for (uint32_t i = 0; i < first; ++i) AddNode(kNoNode);
  for (uint32_t i = Draw(5); first > 1 && i > 0; --i) {
    const NodeId dep = 1 + Draw(first - 1);
    const NodeId node = dep + 1 + Draw(first - dep);
    if (machine_.AddAfter(node, dep, out_).ok()) nodes_[node].deps.push_back(dep);
  }
  body_budget_ = Draw(15);
}

RetryPolicy RandomRun::RandomPolicy() {
  RetryPolicy policy;
  if (Chance(40)) policy.max_retries = static_cast<uint16_t>(Draw(4));
  if (Chance(50)) policy.retry_delay_ns = 1 + Draw(100);
  if (Chance(50)) policy.backoff = 2;
  if (Chance(20)) policy.max_delay_ns = 150;
  if (Chance(30)) policy.jitter = 0.5;
  if (Chance(30)) policy.timeout_ns = 1 + Draw(200);
  return policy;
}

void RandomRun::AddNode(NodeId parent) {
  const auto known = static_cast<uint32_t>(nodes_.size() - 1);
  std::vector<NodeId> data;
  std::vector<NodeId> after;
  for (uint32_t i = Draw(4); known > 0 && i > 0; --i) (Chance(75) ? data : after).push_back(1 + Draw(known));
  Shadow& node = nodes_.emplace_back();
  node.deps = data;
  node.deps.insert(node.deps.end(), after.begin(), after.end());
  node.policy = RandomPolicy();
  for (LimitId limit = 0; limit < capacity_.size(); ++limit) {
    if (Chance(25)) node.limits.push_back(limit);
  }
  node.added_late =
      std::any_of(node.deps.begin(), node.deps.end(), [&](NodeId d) { return nodes_[d].final_order > 0; });
  const Result<NodeId> id = machine_.AddNode(
      {.data_deps = data, .after_deps = after, .parent = parent, .policy = node.policy, .limits = node.limits}, now_,
      out_);
  if (!id.ok() || *id != known + 1) Broken("a good node is refused: " + id.status().message());
  Absorb();
}

void RandomRun::Step() {
  const uint32_t choice = Draw(100);
  if (choice < 35) {
    StartOne();
  } else if (choice < 70) {
    FinishOne();
  } else if (choice < 74) {
    LoseWorker();
  } else if (choice < 84) {
    FireTimer();
  } else if (choice < 88) {
    SendStrayEvent();
  } else if (choice < 90) {
    if (Chance(15)) CancelSomething();
  } else if (choice < 95) {
    if (body_budget_ > 0 && (!body_ended_ || !running_.empty())) {
      --body_budget_;
      AddNode(running_.empty() || Chance(30) ? kNoNode : running_[Draw(static_cast<uint32_t>(running_.size()))].node);
      ++tally_["added while running"];
    }
  } else {
    EndBodyOrHold();
  }
}

void RandomRun::StartOne() {
  if (ready_.empty()) return;
  const Flight flight = TakeAt(ready_, Draw(static_cast<uint32_t>(ready_.size())));
  const NodeId id = flight.node;
  const bool may = nodes_[id].final_order == 0;  // cancelled or cached meanwhile?
  if (may && nodes_[id].attempt == 1 && Chance(5)) {
    nodes_[id].cached = true;
    if (!machine_.MarkCached(id, now_, out_)) Broken("a ready node cannot be marked cached", id);
    Absorb();
    return;
  }
  if (machine_.AttemptStarted(id, flight.attempt, now_, out_) != may) Broken("a start is answered wrongly", id);
  if (may) running_.push_back(flight);
  Absorb();
}

void RandomRun::FinishOne() {
  if (running_.empty()) return;
  now_ += Draw(20);
  const Flight flight = TakeAt(running_, Draw(static_cast<uint32_t>(running_.size())));
  static constexpr std::pair<Outcome, AttemptState> kOutcomes[] = {{Outcome::kSuccess, AttemptState::kSuccess},
                                                                   {Outcome::kError, AttemptState::kError},
                                                                   {Outcome::kTimeout, AttemptState::kTimeout},
                                                                   {Outcome::kCancelled, AttemptState::kCancelled},
                                                                   {Outcome::kLost, AttemptState::kLost}};
  const auto [outcome, state] = kOutcomes[Chance(70) ? 0 : Draw(5)];
  AttemptState expected = state;
  if (flight.timed_out) {
    expected = AttemptState::kTimeout;
  } else if (flight.told_to_stop) {
    expected = outcome == Outcome::kSuccess ? AttemptState::kSuccess : AttemptState::kCancelled;
  }
  const bool retryable = !Chance(10);
  if (!retryable) nodes_[flight.node].no_more_retries = true;
  Concluded(flight, machine_.AttemptFinished(flight.node, flight.attempt, outcome, now_, out_, retryable), expected,
            IsFailure(expected));
}

// One running attempt brings its worker down, and up to two more that shared it.
void RandomRun::LoseWorker() {
  for (uint32_t victim = 0, victims = 1 + Draw(3); victim < victims && !running_.empty(); ++victim) {
    const Flight flight = TakeAt(running_, Draw(static_cast<uint32_t>(running_.size())));
    const bool innocent = victim > 0;
    AttemptState expected = AttemptState::kLost;
    if (flight.timed_out) {
      expected = AttemptState::kTimeout;
    } else if (flight.told_to_stop) {
      expected = AttemptState::kCancelled;
    }
    const bool counts = IsFailure(expected) && !(innocent && expected == AttemptState::kLost);
    ++tally_[innocent ? "innocent lost" : "guilty lost"];
    Concluded(flight, machine_.WorkerLost(flight.node, flight.attempt, innocent, now_, out_), expected, counts);
  }
}

void RandomRun::Concluded(const Flight& flight, const AttemptVerdict& verdict, AttemptState expected,
                          bool counts_as_failure) {
  Shadow& node = nodes_[flight.node];
  if (!verdict.accepted) Broken("the end of a running attempt is ignored", flight.node);
  if (verdict.state != expected) Broken("an attempt ends with the wrong state", flight.node);
  node.failed_attempt = counts_as_failure;
  bool retry = IsFailure(expected) && !counts_as_failure;  // innocent
  if (counts_as_failure) {
    ++node.failures;
    retry = !cancelled_ && !node.no_more_retries && node.failures <= node.policy.max_retries;
  }
  if (verdict.retried != retry) Broken("a retry is given or refused wrongly", flight.node);
  if (retry) ++tally_["retried"];
  if (!retry) node.no_more_retries = true;
  GiveBack(flight.node);
  Absorb();
}

void RandomRun::FireTimer() {
  if (timers_.empty()) return;
  const Command timer = TakeAt(timers_, Draw(static_cast<uint32_t>(timers_.size())));
  now_ = std::max(now_, timer.at_ns);
  const auto flight = std::find_if(running_.begin(), running_.end(),
                                   [&](const Flight& f) { return f.node == timer.node && f.attempt == timer.attempt; });
  const Shadow& node = nodes_[timer.node];
  const bool alive = timer.timer == TimerKind::kTimeout ? flight != running_.end() && !flight->told_to_stop
                                                        : node.final_order == 0 && node.attempt == timer.attempt;
  if (machine_.TimerFired(timer.node, timer.attempt, timer.timer, now_, out_) != alive) {
    Broken("a timer is answered wrongly", timer.node);
  }
  if (timer.timer == TimerKind::kRetry) nodes_[timer.node].delayed = false;
  if (alive) ++tally_[timer.timer == TimerKind::kTimeout ? "timed out" : "retry timer"];
  Absorb();
}

// Events that must change nothing, because they come too late, twice, or from nowhere.
void RandomRun::SendStrayEvent() {
  const NodeId id = Draw(static_cast<uint32_t>(nodes_.size()) + 2);
  const uint32_t attempt = Draw(3);
  const bool known = id != kNoNode && id < nodes_.size();
  if (known && nodes_[id].attempt == attempt && nodes_[id].final_order == 0) return;  // that one would count
  if (machine_.AttemptFinished(id, attempt, Outcome::kError, now_, out_).accepted ||
      machine_.WorkerLost(id, attempt, Chance(50), now_, out_).accepted ||
      machine_.AttemptStarted(id, attempt, now_, out_) ||
      machine_.TimerFired(id, attempt, Chance(50) ? TimerKind::kRetry : TimerKind::kTimeout, now_, out_) ||
      !out_.empty()) {
    Broken("an event that came too late is taken", id);
  }
  ++tally_["stray"];
}

void RandomRun::CancelSomething() {
  if (Chance(30)) {
    cancelled_ = true;
    machine_.Cancel(now_, out_);
    ++tally_["run cancelled"];
  } else if (nodes_.size() > 1) {
    const NodeId id = 1 + Draw(static_cast<uint32_t>(nodes_.size()) - 1);
    const auto flight = std::find_if(running_.begin(), running_.end(), [&](const Flight& f) { return f.node == id; });
    const bool stopping = flight != running_.end() && flight->told_to_stop && !flight->timed_out;
    const bool can = nodes_[id].final_order == 0 && !stopping;
    if (can) nodes_[id].no_more_retries = true;
    if (machine_.CancelNode(id, now_, out_) != can) Broken("a cancel is answered wrongly", id);
    ++tally_["node cancelled"];
  }
  Absorb();
}

void RandomRun::EndBodyOrHold() {
  if (!body_ended_ && Chance(50)) {
    body_ended_ = true;
    const bool fails = Chance(5);
    body_failed_ = fails && !cancelled_;
    machine_.BodyEnded(fails ? BodyOutcome::kError : BodyOutcome::kSuccess, now_, out_);
  } else if (held_) {
    held_ = false;
    machine_.ReleaseHold(now_, out_);
  } else if (Chance(20)) {
    held_ = true;
    machine_.HoldOpen();
  }
  Absorb();
}

// ---- the account

void RandomRun::GiveBack(NodeId id) {
  if (!std::exchange(nodes_[id].holds, false)) return;
  for (const LimitId limit : nodes_[id].limits) --in_use_[limit];
}

void RandomRun::Absorb() {
  NodeId last_ready = kNoNode;
  const Commands commands = std::exchange(out_, {});
  for (const Command& command : commands) {
    trace_.push_back(uint64_t{command.node} << 32 | uint64_t{command.attempt} << 16 |
                     static_cast<uint64_t>(command.kind) << 8 | static_cast<uint64_t>(command.node_state));
    trace_.push_back(static_cast<uint64_t>(command.at_ns));
    if (run_final_) Broken("a command comes after the end of the run", command.node);
    switch (command.kind) {
      case CommandKind::kReady:
        if (command.node < last_ready) Broken("nodes are issued out of order", command.node);
        last_ready = command.node;
        OnReady(command);
        break;
      case CommandKind::kCancelAttempt: {
        const auto flight = std::find_if(running_.begin(), running_.end(), [&](const Flight& f) {
          return f.node == command.node && f.attempt == command.attempt;
        });
        if (flight == running_.end() || flight->told_to_stop) {
          Broken("an attempt that does not run, or is stopping, is told to stop", command.node);
          break;
        }
        flight->told_to_stop = true;
        flight->timed_out = command.reason == CancelReason::kTimeout;
        break;
      }
      case CommandKind::kSetTimer:
        if (command.at_ns < now_) Broken("a timer lies in the past", command.node);
        timers_.push_back(command);
        if (command.timer == TimerKind::kRetry) nodes_[command.node].delayed = true;
        break;
      case CommandKind::kNodeFinal: OnNodeFinal(command); break;
      case CommandKind::kRunFinal: OnRunFinal(command); break;
    }
  }
  CheckFigures();
}

void RandomRun::OnReady(const Command& command) {
  Shadow& node = nodes_[command.node];
  if (!machine_.started()) Broken("a node is issued before the start", command.node);
  if (cancelled_) Broken("a node is issued after the cancel", command.node);
  if (node.final_order > 0) Broken("a final node is issued", command.node);
  if (command.attempt != node.attempt + 1) Broken("attempts are not numbered in a row", command.node);
  node.attempt = command.attempt;
  for (const NodeId dep : node.deps) {
    if (!Done(dep)) Broken("a node is issued before its dependency succeeded", command.node);
  }
  if (std::exchange(node.holds, true)) Broken("a node is issued twice", command.node);
  for (const LimitId limit : node.limits) {
    if (++in_use_[limit] > capacity_[limit]) Broken("a limit is exceeded", command.node);
  }
  ready_.push_back({.node = command.node, .attempt = command.attempt});
}

void RandomRun::OnNodeFinal(const Command& command) {
  const NodeId id = command.node;
  Shadow& node = nodes_[id];
  if (node.final_order > 0) Broken("a node becomes final twice", id);
  node.final_order = ++final_count_;
  node.final_state = command.node_state;
  node.cause = command.cause;
  node.delayed = false;
  GiveBack(id);
  ++tally_[std::string(base::Name(command.node_state))];
  if (command.node_state != machine_.StateOf(id) || command.cause != machine_.CauseOf(id)) {
    Broken("the command and the machine disagree about a final state", id);
  }
  switch (command.node_state) {
    case NodeState::kSuccess:
      if (command.cause != kNoNode || node.attempt == 0) Broken("a success has a cause or no attempt", id);
      break;
    case NodeState::kFailed:
      if (command.cause != id || !node.failed_attempt) Broken("a node failed without a failed attempt", id);
      break;
    case NodeState::kSkipped: CheckSkipped(id); break;
    case NodeState::kCancelled:
      if (command.cause != (cancelled_ ? kNoNode : id)) Broken("a cancelled node has the wrong cause", id);
      break;
    case NodeState::kCached:
      if (!node.cached) Broken("a node is cached that nobody marked", id);
      break;
    default: Broken("a final state is none", id);
  }
}

// The cause is that of the dependency that went wrong first; a node that was added behind several failures takes the
// first that it names.
void RandomRun::CheckSkipped(NodeId id) {
  const Shadow& node = nodes_[id];
  if (node.attempt > 0) Broken("a node is skipped that was issued", id);
  NodeId culprit = kNoNode;
  for (const NodeId dep : node.deps) {
    const Shadow& other = nodes_[dep];
    if (dep == id || other.final_order == 0 || Done(dep)) continue;
    if (culprit == kNoNode || (!node.added_late && other.final_order < nodes_[culprit].final_order)) culprit = dep;
  }
  if (culprit == kNoNode) {
    Broken("a node is skipped although none of its dependencies went wrong", id);
    return;
  }
  const NodeId expected = nodes_[culprit].final_state == NodeState::kSkipped ? nodes_[culprit].cause : culprit;
  if (node.cause != expected) Broken("a skipped node names the wrong cause", id);
}

void RandomRun::OnRunFinal(const Command& command) {
  run_final_ = true;
  if (!body_ended_ || held_) Broken("the run ends while it is held open");
  if (final_count_ != nodes_.size() - 1) Broken("the run ends before its nodes");
  bool good = true;
  for (NodeId id = 1; id < nodes_.size(); ++id) good = good && Done(id);
  RunState expected = good ? RunState::kSuccess : RunState::kFailed;
  if (cancelled_) expected = RunState::kCancelled;
  if (body_failed_) expected = RunState::kFailed;
  if (command.run_state != expected || machine_.run_state() != expected) Broken("the run ends with the wrong state");
  ++tally_["run " + std::string(base::Name(command.run_state))];
}

void RandomRun::CheckFigures() {
  const Status progress = machine_.CheckProgress();
  if (!progress.ok()) Broken(progress.message());
  for (LimitId limit = 0; limit < capacity_.size(); ++limit) {
    if (machine_.LimitInUse(limit) != in_use_[limit]) Broken("the use of a limit is not what we count");
    if (run_final_ && in_use_[limit] != 0) Broken("a limit is still held after the end");
  }
  const auto in_flight =
      std::count_if(nodes_.begin(), nodes_.end(), [](const Shadow& node) { return node.holds || node.delayed; });
  if (machine_.InFlight() != in_flight) Broken("the attempts in flight are not what we count");
  uint32_t total = 0;
  uint32_t final_nodes = 0;
  for (size_t state = 0; state < machine_.Counts().size(); ++state) {
    total += machine_.Counts()[state];
    if (base::IsFinal(static_cast<NodeState>(state))) final_nodes += machine_.Counts()[state];
  }
  if (total != machine_.node_count() || final_nodes != final_count_) Broken("the counts per state do not add up");
  const bool over = machine_.started() && body_ended_ && !held_ && final_count_ == nodes_.size() - 1;
  if (over && !run_final_) Broken("the run is over and does not say so");
}

}  // namespace wf::dag
