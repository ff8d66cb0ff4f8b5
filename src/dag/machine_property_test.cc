// Rules that hold for every run, tried on 10,000 random ones. A failure names its seed; RandomRun(seed) repeats it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "dag/graph.h"
#include "dag/random_run.h"

namespace wf::dag {
namespace {

constexpr uint64_t kRuns = 10'000;

TEST(MachineProperty, TenThousandRandomRunsKeepEveryRule) {
  std::map<std::string, int> tally;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    RandomRun run(seed);
    const std::string broken = run.Play();
    ASSERT_EQ(broken, "") << "with seed " << seed;
    for (const auto& [what, times] : run.tally()) tally[what] += times;
  }
  // The rules mean little for what never happened.
  for (const char* what : {"success", "failed", "skipped", "cancelled", "cached", "retried", "retry timer", "timed out",
                           "guilty lost", "innocent lost", "added while running", "node cancelled", "run cancelled",
                           "run success", "run failed", "stray"}) {
    EXPECT_GE(tally[what], 200) << what;
  }
}

TEST(MachineProperty, SameEventsGiveTheSameCommands) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomRun first(seed);
    RandomRun second(seed);
    ASSERT_EQ(first.Play(), "");
    ASSERT_EQ(second.Play(), "");
    ASSERT_EQ(first.trace(), second.trace()) << "with seed " << seed;
  }
}

// A cycle is found exactly when the nodes cannot all be put in an order, and what is found is one.
TEST(MachineProperty, CycleIsFoundExactlyWhenThereIsOne) {
  int cyclic = 0;
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    std::mt19937_64 random(seed);
    const auto nodes = static_cast<uint32_t>(1 + random() % 20);
    std::vector<GraphEdge> edges;
    for (uint64_t i = random() % 25; i > 0; --i) {
      edges.push_back({static_cast<uint32_t>(random() % nodes), static_cast<uint32_t>(random() % nodes)});
    }
    const Graph graph(nodes, edges);
    const std::vector<uint32_t> cycle = graph.FindCycle();
    ASSERT_EQ(cycle.empty(), graph.TopologicalOrder().size() == nodes) << "with seed " << seed;
    if (cycle.empty()) continue;
    ++cyclic;
    ASSERT_EQ(cycle.front(), cycle.back());
    for (size_t i = 0; i + 1 < cycle.size(); ++i) {
      ASSERT_THAT(graph.After(cycle[i]), ::testing::Contains(cycle[i + 1])) << "with seed " << seed;
    }
  }
  EXPECT_GT(cyclic, 200);
}

}  // namespace
}  // namespace wf::dag
