#include "dag/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::dag {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// 0 (10) -> 1 (50) -> 3 (5), 0 -> 2 (20) -> 3; node 3 waits 5 for a worker.
const std::vector<TimedNode> kDiamond = {{0, 0, 10}, {10, 10, 60}, {10, 10, 30}, {60, 65, 70}};
const std::vector<GraphEdge> kDiamondEdges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

TEST(CriticalPath, FollowsTheDependencyThatEndedLast) {
  const CriticalPath path = *FindCriticalPath(kDiamond, kDiamondEdges);
  EXPECT_THAT(path.nodes, ElementsAre(0, 1, 3));
  EXPECT_EQ(path.run_ns, 65);
  EXPECT_EQ(path.wait_ns, 5);
}

TEST(CriticalPath, OnlyNodesOffThePathHaveSlack) {
  EXPECT_THAT(FindCriticalPath(kDiamond, kDiamondEdges)->slack_ns, ElementsAre(0, 0, 30, 0));
}

TEST(CriticalPath, NodeThatNothingWaitsForHasSlackUntilTheEndOfTheRun) {
  const std::vector<TimedNode> nodes = {{0, 0, 100}, {0, 0, 40}};
  const CriticalPath path = *FindCriticalPath(nodes, {});
  EXPECT_THAT(path.nodes, ElementsAre(0));
  EXPECT_THAT(path.slack_ns, ElementsAre(0, 60));
}

TEST(CriticalPath, EmptyRunHasAnEmptyPath) {
  const CriticalPath path = *FindCriticalPath({}, {});
  EXPECT_THAT(path.nodes, IsEmpty());
  EXPECT_EQ(path.run_ns, 0);
}

TEST(CriticalPath, ChainOfTwentyThousandIsItsOwnPath) {
  std::vector<TimedNode> nodes;
  std::vector<GraphEdge> edges;
  for (uint32_t i = 0; i < 20'000; ++i) {
    nodes.push_back({int64_t{i}, int64_t{i}, int64_t{i} + 1});
    if (i > 0) edges.push_back({i - 1, i});
  }
  const CriticalPath path = *FindCriticalPath(nodes, edges);
  EXPECT_THAT(path.nodes, SizeIs(20'000));
  EXPECT_EQ(path.run_ns, 20'000);
}

TEST(CriticalPath, RefusesACycleAnEdgeToNowhereAndTimesThatGoBackwards) {
  const std::vector<TimedNode> two = {{0, 0, 1}, {1, 1, 2}};
  const std::vector<TimedNode> backwards = {{0, 5, 1}};
  EXPECT_EQ(FindCriticalPath(two, std::vector<GraphEdge>{{0, 1}, {1, 0}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(FindCriticalPath(two, std::vector<GraphEdge>{{0, 2}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(FindCriticalPath(backwards, {}).status().code(), Code::kInvalidArgument);
}

TEST(ProjectEnd, SameFactorsGiveTheSameEnd) {
  EXPECT_EQ(*ProjectEnd(kDiamond, kDiamondEdges, std::vector<double>{1, 1, 1, 1}), 70);
}

TEST(ProjectEnd, FasterNodeShortensTheRunUntilAnotherPathIsCritical) {
  EXPECT_EQ(*ProjectEnd(kDiamond, kDiamondEdges, std::vector<double>{1, 0.5, 1, 1}), 45);
  EXPECT_EQ(*ProjectEnd(kDiamond, kDiamondEdges, std::vector<double>{1, 0, 1, 1}), 40);
}

TEST(ProjectEnd, NodeOffThePathSavesNothing) {
  EXPECT_EQ(*ProjectEnd(kDiamond, kDiamondEdges, std::vector<double>{1, 1, 0, 1}), 70);
}

}  // namespace
}  // namespace wf::dag
