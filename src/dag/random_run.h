// A random run of the machine, for property tests: a fake executor that starts ready nodes in any order, lets attempts
// succeed, fail, run into time-outs and lose their workers, adds nodes, cancels, and sends events that come too late.
//
// It keeps its own account of the run, from the specifications and the commands alone, and compares the machine with it
// after every event. Everything follows from the seed, so that a failure can be run again.
#ifndef WF_DAG_RANDOM_RUN_H_
#define WF_DAG_RANDOM_RUN_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "dag/machine.h"

namespace wf::dag {

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed);

  // Runs to the end. The first broken rule in words, or nothing.
  std::string Play();

  // All commands in their order, as numbers; equal for equal seeds.
  const std::vector<uint64_t>& trace() const { return trace_; }
  // What happened, summed over runs by the test, which makes sure that nothing went unexercised.
  const std::map<std::string, int>& tally() const { return tally_; }

 private:
  // What the executor knows of a node.
  struct Shadow {
    std::vector<NodeId> deps;  // data first
    std::vector<LimitId> limits;
    RetryPolicy policy;
    NodeState final_state = NodeState::kWaiting;
    NodeId cause = kNoNode;
    uint64_t final_order = 0;  // 1, 2, ... as the kNodeFinal commands came
    uint32_t attempt = 0;      // of the last kReady
    uint32_t failures = 0;     // attempts that used up a retry, or the last chance
    bool holds = false;        // the limits, by our account
    bool delayed = false;      // until its retry timer
    bool added_late = false;   // behind nodes that were final already
    bool no_more_retries = false;
    bool failed_attempt = false;  // the last attempt ended with error, time-out or loss
    bool cached = false;
  };
  struct Flight {
    NodeId node = kNoNode;
    uint32_t attempt = 0;
    bool told_to_stop = false;
    bool timed_out = false;
  };

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  bool Chance(uint32_t percent) { return Draw(100) < percent; }
  void Broken(const std::string& rule, NodeId node = kNoNode);

  void Build();
  void AddNode(NodeId parent);
  RetryPolicy RandomPolicy();
  void Step();
  void StartOne();
  void FinishOne();
  void LoseWorker();
  void FireTimer();
  void SendStrayEvent();
  void CancelSomething();
  void EndBodyOrHold();

  void Concluded(const Flight& flight, const AttemptVerdict& verdict, AttemptState expected, bool counts_as_failure);
  void Absorb();  // takes the commands of one event and checks them and the machine's figures
  void OnReady(const Command& command);
  void OnNodeFinal(const Command& command);
  void OnRunFinal(const Command& command);
  void CheckSkipped(NodeId id);
  void CheckFigures();
  void GiveBack(NodeId id);
  bool Done(NodeId id) const;

  std::mt19937_64 random_;
  Machine machine_;
  Commands out_;
  int64_t now_ = 0;
  std::vector<Shadow> nodes_{1};
  std::vector<uint32_t> capacity_;
  std::vector<uint32_t> in_use_;
  std::vector<Flight> ready_;
  std::vector<Flight> running_;
  std::vector<Command> timers_;
  uint64_t final_count_ = 0;
  uint32_t body_budget_ = 0;  // nodes that the body or running nodes still add
  bool body_ended_ = false;
  bool body_failed_ = false;
  bool held_ = false;
  bool cancelled_ = false;
  bool run_final_ = false;
  std::string broken_;
  std::vector<uint64_t> trace_;
  std::map<std::string, int> tally_;
};

}  // namespace wf::dag

#endif  // WF_DAG_RANDOM_RUN_H_
