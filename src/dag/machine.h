// The scheduling state machine of a run: events in, commands out.
//
// It decides what may start, what is retried, skipped, timed out or cancelled, and when the run is over. It has no
// threads, no clock and no I/O: time arrives as an argument (CLOCK_MONOTONIC nanoseconds; any int64 line of time will
// do, the machine never compares it with another clock), and whatever has to happen outside is appended to a vector of
// Command that the caller owns and carries out. It never knows which executor it has.
//
// Ids. A node is numbered from 1 in the order of creation; 0 means "none". An attempt is numbered from 1 within its
// node. `task` is a tag of the caller's that the machine only stores.
//
// The life of a node (NodeState of base/states.h, one-way; a retry keeps it in kRunning):
//
//   waiting ── dependencies done, run started, leases held: kReady ──> ready ── AttemptStarted ──> running ──┐
//      │                                                                 │                                  │
//      └───────── skipped, cancelled, cached <───────────────────────────┘      success, failed, cancelled <┘
//
//   * Dependencies, with data or only for the order (`after`), must succeed (or be cached). If one ends otherwise the
//     node is skipped, and so are its dependants; all of them name as their cause the node that ended first. Branches
//     that do not depend on it run on.
//   * Leases. A limit has a name and a capacity. A node takes one unit of each of its limits, all or none, from its
//     kReady command until the attempt is finished (or the node is cancelled before its start). During a retry delay it
//     holds nothing.
//   * Order. The kReady commands of one event come in the order of creation; the units of a limit go to the oldest
//     node that waits for it. The same events give the same commands, always.
//
// What an executor does with the commands:
//
//   kReady          queue the node. Before its body runs call AttemptStarted, and drop the node if that says false.
//   kCancelAttempt  stop the attempt if you can, then report AttemptFinished with whatever came of it. Where it cannot
//                   be stopped (a thread) report it at once and let what still runs be forgotten.
//   kSetTimer       call TimerFired with this command at `at_ns` or later. Timers need not be cleared: one whose time
//                   has gone by does nothing.
//   kNodeFinal      the node has its final state: resolve its future.
//   kRunFinal       the last command of all.
//
// Late, repeated and unknown events (the finish of an old attempt, a start after a cancel, a timer of a node that is
// done) change nothing; the return value says so.
//
// Threading: none of its own; the caller holds a lock around every call. Cost: some 100 ns per node from AddNode to
// kNodeFinal, about 40 bytes per node and 8 per edge, no allocation per node beyond growing vectors.
//
//   Machine machine;
//   Commands out;
//   NodeId a = *machine.AddNode({.task = 0}, now, out);
//   NodeId b = *machine.AddNode({.task = 1, .data_deps = {&a, 1}}, now, out);
//   WF_CHECK(machine.Start(now, out).ok());             // out: kReady a
//   machine.BodyEnded(BodyOutcome::kSuccess, now, out);
//   machine.AttemptStarted(a, 1, now, out);
//   machine.AttemptFinished(a, 1, Outcome::kSuccess, now, out);   // out: kNodeFinal a, kReady b
#ifndef WF_DAG_MACHINE_H_
#define WF_DAG_MACHINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/states.h"
#include "wf/status.h"

namespace wf::dag {

using NodeId = uint32_t;
using LimitId = uint32_t;
using base::AttemptState;
using base::NodeState;
using base::RunState;

inline constexpr NodeId kNoNode = 0;

// How an attempt ended, as the executor saw it.
enum class Outcome : uint8_t { kSuccess, kError, kTimeout, kCancelled, kLost };

enum class BodyOutcome : uint8_t { kSuccess, kError };

enum class CommandKind : uint8_t { kReady, kCancelAttempt, kSetTimer, kNodeFinal, kRunFinal };
enum class CancelReason : uint8_t { kCancelled, kTimeout };
enum class TimerKind : uint8_t { kRetry, kTimeout };

struct Command {
  CommandKind kind = CommandKind::kReady;
  CancelReason reason = CancelReason::kCancelled;  // kCancelAttempt
  TimerKind timer = TimerKind::kRetry;             // kSetTimer
  NodeState node_state = NodeState::kWaiting;      // kNodeFinal
  RunState run_state = RunState::kRunning;         // kRunFinal
  NodeId node = kNoNode;                           // all but kRunFinal
  uint32_t attempt = 0;    // kReady, kCancelAttempt, kSetTimer; kNodeFinal: the last one, 0 = none
  NodeId cause = kNoNode;  // kNodeFinal: see Machine::CauseOf
  int64_t at_ns = 0;       // kSetTimer
};
using Commands = std::vector<Command>;

// When and how often a node is tried again, and for how long an attempt may run.
struct RetryPolicy {
  uint16_t max_retries = 0;    // further attempts after an error, a time-out or the loss of the worker
  int64_t retry_delay_ns = 0;  // before the first retry
  double backoff = 1.0;        // each further delay is this much longer; at least 1
  int64_t max_delay_ns = 0;    // the longest delay; 0 = no bound
  double jitter = 0.0;     // share of the delay, 0 to 1, that is taken off by chance, so that retries do not stampede
  int64_t timeout_ns = 0;  // of one attempt, from AttemptStarted; 0 = none

  bool operator==(const RetryPolicy&) const = default;
};

struct NodeSpec {
  uint32_t task = 0;
  std::span<const NodeId> data_deps{};   // a node that is named twice counts once or twice, to the same effect
  std::span<const NodeId> after_deps{};  // order only
  NodeId parent = kNoNode;               // the node whose body made this one; it changes no order
  RetryPolicy policy{};
  std::span<const LimitId> limits{};  // one unit of each; each at most once
};

// What became of a finished attempt.
struct AttemptVerdict {
  bool accepted = false;  // false: late, repeated or unknown; nothing changed and the rest is meaningless
  AttemptState state = AttemptState::kSuccess;
  bool retried = false;  // the node gets another attempt
};

struct MachineOptions {
  uint64_t jitter_seed = 0;
  // Start looks for cycles when AddAfter was used. Only tests of CheckProgress have a reason to switch it off.
  bool check_cycles = true;
};

class Machine {
 public:
  // Nodes per NodeState, indexed by it.
  using StateCounts = std::array<uint32_t, 8>;
  // How to call a node in a message, such as "train[3]".
  using NodeNamer = std::function<std::string(NodeId)>;

  explicit Machine(MachineOptions options = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // ---- building; allowed before Start and while the run goes on

  // A hint; saves the growing of vectors.
  void Reserve(size_t nodes, size_t edges);

  // A limit that nodes can name. kInvalidArgument: capacity 0. kAlreadyExists: the name with another capacity; with
  // the same one the old id comes back.
  Result<LimitId> AddLimit(std::string_view name, uint32_t capacity);

  // A new node. It may become ready at once (started run), be skipped (a dependency has failed) or cancelled (the run
  // is being cancelled), all with the usual commands. kInvalidArgument: a dependency, parent, limit or policy that
  // makes no sense; nothing was added. kFailedPrecondition: the run is over.
  Result<NodeId> AddNode(const NodeSpec& spec, int64_t now, Commands& out);

  // `node` also waits for `dep`. The only way to make a cycle (Start finds it). kFailedPrecondition after Start.
  Status AddAfter(NodeId node, NodeId dep, Commands& out);

  // The nodes of one cycle in the order of execution, first one repeated at the end (a, b, a); empty when there is
  // none.
  std::vector<NodeId> FindCycle() const;

  // ---- the run

  // From now on nodes become ready. kInvalidArgument: there is a cycle, and the message has its path in the words of
  // `namer`; the machine is as before. A second call does nothing.
  Status Start(int64_t now, Commands& out, const NodeNamer& namer = {});

  // The body of the workflow ended: it adds no more nodes. The run ends when every node is final and nobody holds it
  // open. A body with an error makes the run failed, even if it is cancelled later. A second call does nothing.
  void BodyEnded(BodyOutcome outcome, int64_t now, Commands& out);

  // Others that add nodes hold the run open in the same way; each HoldOpen needs one ReleaseHold.
  void HoldOpen() { ++holds_; }
  void ReleaseHold(int64_t now, Commands& out);

  // ---- events of attempts

  // An executor is about to run the body. False: it must not (cancelled meanwhile, or not this attempt's turn).
  [[nodiscard]] bool AttemptStarted(NodeId node, uint32_t attempt, int64_t now, Commands& out);

  // The attempt ended. An attempt that ran into its time-out has state kTimeout whatever the executor says. One that
  // was told to cancel is kSuccess if it still succeeded, else kCancelled. `retryable` false: no retry (a filter said
  // no).
  AttemptVerdict AttemptFinished(NodeId node, uint32_t attempt, Outcome outcome, int64_t now, Commands& out,
                                 bool retryable = true);

  // The worker that had the attempt is gone. The guilty attempt counts like any failed one; an innocent node, which
  // only shared the worker's fate, is issued again at once and keeps its retries.
  AttemptVerdict WorkerLost(NodeId node, uint32_t attempt, bool innocent, int64_t now, Commands& out);

  // A kSetTimer command has come due. Reports whether it still meant something.
  bool TimerFired(NodeId node, uint32_t attempt, TimerKind kind, int64_t now, Commands& out);

  // The result of a node that has not been started is known already (cache, resume). False: too late.
  bool MarkCached(NodeId node, int64_t now, Commands& out);

  // Nothing starts any more. What has not been started is cancelled at once, what runs gets kCancelAttempt.
  void Cancel(int64_t now, Commands& out);

  // The same for one node; its dependants are skipped. False: it is final, or being stopped, already.
  bool CancelNode(NodeId node, int64_t now, Commands& out);

  // ---- questions

  size_t node_count() const { return nodes_.size() - 1; }
  bool started() const { return started_; }
  bool cancelled() const { return cancelled_; }
  // kRunning until kRunFinal was given.
  RunState run_state() const { return run_state_; }
  bool Known(NodeId node) const { return node != kNoNode && node < nodes_.size(); }

  // REQUIRES for the following: Known(node).
  NodeState StateOf(NodeId node) const { return nodes_[node].state; }
  // skipped: the node that failed or was cancelled first; failed, or cancelled on its own: the node itself; else none.
  NodeId CauseOf(NodeId node) const { return nodes_[node].cause; }
  uint32_t AttemptOf(NodeId node) const { return nodes_[node].attempt; }  // the current or last one, 0 = none yet
  uint32_t TaskOf(NodeId node) const { return nodes_[node].task; }
  NodeId ParentOf(NodeId node) const { return nodes_[node].parent; }
  // True if `ancestor` is a parent, at any distance, of `node`: what a worker that waits in `ancestor` may help with.
  bool IsDescendant(NodeId node, NodeId ancestor) const;

  const StateCounts& Counts() const { return counts_; }
  // Attempts that are issued, running or waiting for their retry.
  uint32_t InFlight() const { return in_flight_; }
  uint32_t LimitCapacity(LimitId limit) const { return limits_[limit].capacity; }
  uint32_t LimitInUse(LimitId limit) const { return limits_[limit].capacity - limits_[limit].available; }

  // kInternal, with Explain in the message, when the started run has unfinished nodes and nothing is issued, running or
  // waiting for a timer: nothing would ever happen again. Costs nothing while all is well.
  Status CheckProgress(const NodeNamer& namer = {}) const;

  // What every unfinished node waits for, one line each, at most `max_lines`. For people.
  std::string Explain(const NodeNamer& namer = {}, size_t max_lines = 40) const;

 private:
  enum class Phase : uint8_t {
    kBlocked,   // by dependencies
    kIdle,      // dependencies are done; the run has not started
    kParked,    // in the queue of a limit that has no unit left
    kIssued,    // kReady was given; leases held
    kActive,    // the attempt runs
    kExpired,   // the attempt ran into its time-out and is being stopped
    kStopping,  // the attempt was told to cancel
    kDelayed,   // until the retry timer
    kFinal,
  };

  struct Node {
    uint32_t task = 0;
    NodeId parent = kNoNode;
    uint32_t unmet = 0;  // dependencies that are not done
    uint32_t first_edge = 0;
    uint32_t last_edge = 0;
    NodeId cause = kNoNode;
    uint32_t attempt = 0;
    uint32_t policy = 0;  // index into policies_
    uint32_t leases = 0;  // index into lease_sets_, 0 = none
    uint16_t retries_used = 0;
    NodeState state = NodeState::kWaiting;
    Phase phase = Phase::kBlocked;
  };

  // The dependants of a node are a list in one flat vector, in the order in which they were added; 0 ends it.
  struct Edge {
    NodeId to = kNoNode;
    uint32_t next = 0;
  };

  struct LeaseSet {
    uint32_t begin = 0;  // into lease_limits_
    uint32_t size = 0;
  };

  // Invariant between events: a limit with units left has nobody parked (but nodes that are final meanwhile).
  struct Limit {
    std::string name;
    uint32_t capacity = 0;
    uint32_t available = 0;
    std::vector<NodeId> parked;  // a heap, the oldest node on top
  };

  Status CheckSpec(const NodeSpec& spec) const;
  uint32_t InternPolicy(const RetryPolicy& policy);
  uint32_t InternLeases(std::span<const LimitId> limits);
  void AppendEdge(NodeId from, NodeId to);
  bool Depend(NodeId id, NodeId dep, Commands& out);
  void SetState(Node& node, NodeState state);
  bool IsCurrent(NodeId id, uint32_t attempt) const;
  std::span<const LimitId> LeasesOf(const Node& node) const;

  void DependenciesDone(NodeId id);
  void Admit(NodeId id);
  bool TakeLeases(NodeId id, LimitId* lacking);
  void GiveLeases(const Node& node);
  void Park(NodeId id, LimitId limit);
  void ServeLimits();
  void Issue(NodeId id);
  void Finalise(NodeId id, NodeState state, NodeId cause, Commands& out);
  void ReleaseDependants(NodeId id);
  void SkipDependants(NodeId id, Commands& out);
  void Settle(Commands& out);
  void FinishRunIfDone(Commands& out);

  AttemptVerdict Conclude(NodeId id, AttemptState state, bool may_retry, int64_t now, Commands& out);
  void TryAgain(NodeId id);
  bool StopNode(NodeId id, NodeId cause, Commands& out);
  int64_t RetryDelay(NodeId id) const;
  std::string ExplainNode(NodeId id, const std::vector<NodeId>& waits_for, const NodeNamer& namer) const;
  std::string ExplainLimits(const Node& node, const NodeNamer& namer) const;

  const MachineOptions options_;
  std::vector<Node> nodes_;  // [0] stands for "none"
  std::vector<Edge> edges_;  // [0] likewise
  std::vector<RetryPolicy> policies_;
  std::vector<LeaseSet> lease_sets_;
  std::vector<LimitId> lease_limits_;
  std::vector<Limit> limits_;

  StateCounts counts_{};
  uint32_t unfinished_ = 0;
  uint32_t in_flight_ = 0;
  uint32_t holds_ = 1;  // the body
  bool body_ended_ = false;
  bool body_failed_ = false;
  bool started_ = false;
  bool cancelled_ = false;
  bool may_have_cycle_ = false;  // AddAfter was used
  RunState run_state_ = RunState::kRunning;

  // Scratch of one event, empty between events.
  std::vector<NodeId> issued_;
  std::vector<NodeId> skipping_;
  std::vector<LimitId> touched_limits_;
};

}  // namespace wf::dag

#endif  // WF_DAG_MACHINE_H_
