#include "dag/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::dag {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Graph Make(size_t nodes, std::vector<GraphEdge> edges) { return Graph(nodes, edges); }

std::vector<GraphEdge> Chain(uint32_t nodes) {
  std::vector<GraphEdge> edges;
  for (uint32_t i = 0; i + 1 < nodes; ++i) edges.push_back({i, i + 1});
  return edges;
}

TEST(Graph, EmptyGraphHasNoCycle) {
  EXPECT_THAT(Make(0, {}).FindCycle(), IsEmpty());
  EXPECT_THAT(Make(3, {}).FindCycle(), IsEmpty());
}

TEST(Graph, NodeReachedOnTwoWaysIsNoCycle) {
  EXPECT_THAT(Make(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}, {0, 3}}).FindCycle(), IsEmpty());
}

TEST(Graph, EdgeToItselfIsACycle) { EXPECT_THAT(Make(2, {{0, 1}, {1, 1}}).FindCycle(), ElementsAre(1, 1)); }

TEST(Graph, CycleOfTwoIsGivenInOrder) { EXPECT_THAT(Make(3, {{2, 1}, {1, 2}}).FindCycle(), ElementsAre(1, 2, 1)); }

TEST(Graph, WayIntoTheCycleIsNotPartOfIt) {
  EXPECT_THAT(Make(5, {{0, 4}, {4, 3}, {3, 2}, {2, 4}}).FindCycle(), ElementsAre(2, 4, 3, 2));
}

TEST(Graph, CycleOfFiveThousandIsFoundWhole) {
  std::vector<GraphEdge> edges = Chain(5000);
  edges.push_back({4999, 0});
  const std::vector<uint32_t> cycle = Make(5000, edges).FindCycle();
  ASSERT_THAT(cycle, SizeIs(5001));
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(cycle[i], i);
  EXPECT_EQ(cycle.back(), 0u);
}

TEST(Graph, ChainOfTwentyThousandNeedsNoDeepStack) {
  const Graph graph = Make(20'000, Chain(20'000));
  EXPECT_THAT(graph.FindCycle(), IsEmpty());
  EXPECT_THAT(graph.TopologicalOrder(), SizeIs(20'000));
}

TEST(Graph, TopologicalOrderPutsEachNodeAfterThoseBeforeIt) {
  EXPECT_THAT(Make(4, {{3, 0}, {0, 2}, {3, 1}}).TopologicalOrder(), ElementsAre(3, 0, 1, 2));
}

TEST(Graph, TopologicalOrderLeavesOutWhatACycleBlocks) {
  EXPECT_THAT(Make(4, {{0, 1}, {1, 2}, {2, 1}, {2, 3}}).TopologicalOrder(), ElementsAre(0));
}

TEST(FormatPath, JoinsNamesWithArrows) {
  const std::vector<std::string> names = {"a", "b", "a"};
  EXPECT_EQ(FormatPath(names), "a -> b -> a");
}

TEST(FormatPath, ShortensALongPathInTheMiddle) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "a"};
  EXPECT_EQ(FormatPath(names, 4), "a -> b -> ... 2 more ... -> e -> a");
}

}  // namespace
}  // namespace wf::dag
