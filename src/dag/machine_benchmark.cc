// What the machine costs per node: built, started, run to the end by an executor that does nothing.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/check.h"
#include "dag/machine.h"

namespace wf::dag {
namespace {

// Carries out every command until none is left.
void Drain(Machine& machine, Commands& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const Command command = out[i];
    if (command.kind != CommandKind::kReady) continue;
    if (!machine.AttemptStarted(command.node, command.attempt, 0, out)) continue;
    machine.AttemptFinished(command.node, command.attempt, Outcome::kSuccess, 0, out);
  }
}

void Finish(Machine& machine, Commands& out) {
  WF_CHECK(machine.Start(0, out).ok());
  machine.BodyEnded(BodyOutcome::kSuccess, 0, out);
  Drain(machine, out);
  WF_CHECK(machine.run_state() == RunState::kSuccess);
}

void CountNodes(benchmark::State& state, int64_t nodes) {
  state.SetItemsProcessed(state.iterations() * nodes);
  state.counters["s_per_node"] = benchmark::Counter(static_cast<double>(state.iterations() * nodes),
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Chain(benchmark::State& state) {
  for (auto _ : state) {
    Machine machine;
    Commands out;
    NodeId last = *machine.AddNode({}, 0, out);
    for (int64_t i = 1; i < state.range(0); ++i) last = *machine.AddNode({.data_deps = {&last, 1}}, 0, out);
    Finish(machine, out);
  }
  CountNodes(state, state.range(0));
}
BENCHMARK(BM_Chain)->Arg(1'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// One node, then all the others behind it, then one behind all of them.
void BM_FanOutFanIn(benchmark::State& state) {
  for (auto _ : state) {
    Machine machine;
    Commands out;
    const NodeId first = *machine.AddNode({}, 0, out);
    std::vector<NodeId> middle;
    for (int64_t i = 0; i < state.range(0); ++i) {
      middle.push_back(*machine.AddNode({.data_deps = {&first, 1}}, 0, out));
    }
    benchmark::DoNotOptimize(*machine.AddNode({.data_deps = middle}, 0, out));
    Finish(machine, out);
  }
  CountNodes(state, state.range(0) + 2);
}
BENCHMARK(BM_FanOutFanIn)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

// All nodes compete for four units of one limit.
void BM_Limit(benchmark::State& state) {
  for (auto _ : state) {
    Machine machine;
    Commands out;
    const std::vector<LimitId> limits = {*machine.AddLimit("gpu", 4)};
    for (int64_t i = 0; i < state.range(0); ++i) {
      benchmark::DoNotOptimize(*machine.AddNode({.limits = limits}, 0, out));
    }
    Finish(machine, out);
  }
  CountNodes(state, state.range(0));
}
BENCHMARK(BM_Limit)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace wf::dag
