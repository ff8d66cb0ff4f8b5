#include "report/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/record_for_test.h"

namespace wf::report {
namespace {

using analysis::RecordForTest;
using testing::HasSubstr;

RecordForTest Diamond() {
  RecordForTest builder(1000);
  const uint64_t load = builder.Node("load");
  const uint64_t left = builder.Node("train", {load});
  const uint64_t right = builder.Node("train", {load});
  const uint64_t best = builder.Node("best", {left, right});
  const uint64_t mail = builder.Node("mail");
  builder.record().edges.push_back({best, mail, profile::EdgeKind::kAfter, {}});
  return builder;
}

TEST(GraphTest, TextHasABoxPerTaskAfterWhatItNeeds) {
  RecordForTest builder = Diamond();
  EXPECT_EQ(GraphText(builder.record(), {}, {}),
            "load\n"
            "train ×2  <- load\n"
            "best  <- train\n"
            "mail  <- best (after)\n");
}

TEST(GraphTest, DotDashesWhatIsOnlyOrder) {
  RecordForTest builder = Diamond();
  const std::string dot = GraphText(builder.record(), {.format = GraphFormat::kDot}, {});
  EXPECT_THAT(dot, HasSubstr("digraph \"training\" {"));
  EXPECT_THAT(dot, HasSubstr("n0 -> n1;"));
  EXPECT_THAT(dot, HasSubstr("n2 -> n3 [style=dashed];"));
}

TEST(GraphTest, NamesCannotBreakOutOfTheirQuotes) {
  RecordForTest builder(1000);
  builder.Node("a\"] -> \\evil<b>");
  EXPECT_THAT(GraphText(builder.record(), {.format = GraphFormat::kDot}, {}),
              HasSubstr("[label=\"a\\\"] -> \\\\evil<b>\"]"));
  EXPECT_THAT(GraphText(builder.record(), {.format = GraphFormat::kMermaid}, {}),
              HasSubstr("n0[\"a#quot;] -#gt; \\evil#lt;b#gt;\"]"));
}

TEST(GraphTest, NodesAreNamedByTheirIndexAndState) {
  RecordForTest builder = Diamond();
  builder.record().nodes[1].map_index = 0;
  builder.record().nodes[2].map_index = 1;
  builder.record().nodes[2].state = base::NodeState::kFailed;
  const std::string text = GraphText(builder.record(), {.nodes = true}, {});
  EXPECT_THAT(text, HasSubstr("train[1] (failed)  <- load\n"));
}

TEST(GraphTest, AHugeGraphIsBounded) {
  RecordForTest builder(1000);
  for (int i = 0; i < 600; ++i) builder.Node("t");
  EXPECT_THAT(GraphText(builder.record(), {.nodes = true}, {}), HasSubstr("100 more boxes are left out"));
  EXPECT_EQ(MakeGraph(builder.record(), {.nodes = true, .all = true}).boxes.size(), 600U);
}

TEST(GraphTest, ATaskThatFollowsItselfIsNoProblem) {
  RecordForTest builder(1000);
  const uint64_t first = builder.Node("step");
  builder.Node("step", {first});
  EXPECT_EQ(GraphText(builder.record(), {}, {}), "step ×2  <- step\n");
}

TEST(GraphTest, JsonNamesTheKindOfEachArrow) {
  RecordForTest builder = Diamond();
  const auto document = nlohmann::json::parse(GraphText(builder.record(), {.format = GraphFormat::kJson}, {}));
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["arrows"].back()["kind"], "after");
}

}  // namespace
}  // namespace wf::report
