// The public API over the thread pool, with real threads.
#include "wf/workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/clock.h"

namespace wf {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Workflow, ValuesFlowAlongFutures) {
  Workflow flow("sum");
  const Future<int> two = flow.Add({.name = "two"}, [] { return 2; });
  const Future<std::string> text = flow.Add({.name = "text"}, [](const int& n) { return std::string(n, 'x'); }, two);
  const Future<size_t> length =
      flow.Add({.name = "length"}, [](const std::string& s, int n) { return s.size() + n; }, text, two);
  const RunReport report = flow.Run({.threads = 2});
  ASSERT_TRUE(report.status.ok()) << report.status.message();
  EXPECT_EQ(report.state, RunState::kSuccess);
  EXPECT_EQ(*length.value(), 4u);
}

TEST(Workflow, VectorOfFuturesArrivesInItsOrder) {
  Workflow flow("map");
  std::vector<Future<int>> squares;
  for (int i = 0; i < 5; ++i) squares.push_back(flow.Add({.name = "square"}, [i] { return i * i; }));
  const auto all = flow.Add(
      {.name = "all"},
      [](const std::vector<const int*>& values) {
        std::vector<int> copies;
        for (const int* value : values) copies.push_back(*value);
        return copies;
      },
      squares);
  ASSERT_TRUE(flow.Run().status.ok());
  EXPECT_THAT(*all.value(), ElementsAre(0, 1, 4, 9, 16));
}

TEST(Workflow, EmptyVectorOfFuturesStillRunsTheJoin) {
  Workflow flow("empty");
  const auto count = flow.Add(
      {.name = "count"}, [](const std::vector<const int*>& all) { return all.size(); }, std::vector<Future<int>>{});
  ASSERT_TRUE(flow.Run().status.ok());
  EXPECT_EQ(*count.value(), 0u);
}

TEST(Workflow, FutureOfVoidOrdersWithoutPassingAnything) {
  Workflow flow("order");
  int value = 0;
  const Future<void> set = flow.Add({.name = "set"}, [&value] { value = 7; });
  const Future<int> get = flow.Add({.name = "get"}, [&value] { return value; }, set);
  ASSERT_TRUE(flow.Run({.threads = 4}).status.ok());
  EXPECT_EQ(*get.value(), 7);
}

TEST(Workflow, MoveOnlyValuesAndFunctionsAreFine) {
  Workflow flow("move");
  auto owned = std::make_unique<int>(3);
  const auto made = flow.Add({.name = "make"}, [owned = std::move(owned)]() mutable { return std::move(owned); });
  const auto read = flow.Add({.name = "read"}, [](const std::unique_ptr<int>& p) { return *p; }, made);
  ASSERT_TRUE(flow.Run().status.ok());
  EXPECT_EQ(*read.value(), 3);
}

TEST(Workflow, ValueOutlivesTheWorkflow) {
  Future<std::string> kept;
  {
    Workflow flow("short");
    kept = flow.Add({.name = "say"}, [] { return std::string("hello"); });
    ASSERT_TRUE(flow.Run().status.ok());
  }
  EXPECT_EQ(*kept.value(), "hello");
}

TEST(Workflow, EmptyWorkflowSucceeds) {
  Workflow flow("nothing");
  const RunReport report = flow.Run();
  EXPECT_TRUE(report.status.ok());
  EXPECT_EQ(report.state, RunState::kSuccess);
}

TEST(Workflow, TaskAddsNodesWhileItRuns) {
  Workflow flow("dynamic");
  std::atomic<int> sum = 0;
  const auto parent = flow.Add({.name = "parent"}, [&flow, &sum] {
    std::vector<Future<int>> parts;
    for (int i = 1; i <= 10; ++i) parts.push_back(flow.Add({.name = "part"}, [i] { return i; }));
    flow.Add(
        {.name = "join"},
        [&sum](const std::vector<const int*>& all) {
          for (const int* value : all) sum += *value;
        },
        parts);
  });
  const RunReport report = flow.Run({.threads = 1});
  ASSERT_TRUE(report.status.ok()) << report.status.message();
  EXPECT_EQ(sum, 55);
  ASSERT_THAT(report.nodes, SizeIs(12));
  EXPECT_EQ(report.nodes[5].parent, parent.index());
  EXPECT_EQ(report.nodes[parent.index()].parent, kNoIndex);
}

TEST(Workflow, WallAndCpuTimeAreMeasuredPerAttempt) {
  Workflow flow("cost");
  const auto sleeps = flow.Add({.name = "sleeps"}, [] { std::this_thread::sleep_for(milliseconds(50)); });
  const auto works = flow.Add({.name = "works"}, [] {
    const int64_t end = base::ThreadCpuNs() + 30'000'000;
    while (base::ThreadCpuNs() < end) {
    }
  });
  const RunReport report = flow.Run();
  EXPECT_GE(report.nodes[sleeps.index()].wall_ns, 50'000'000);
  EXPECT_LT(report.nodes[sleeps.index()].cpu_ns, 25'000'000);
  EXPECT_GE(report.nodes[works.index()].cpu_ns, 30'000'000);
  EXPECT_GE(report.wall_ns(), report.nodes[sleeps.index()].wall_ns);
}

TEST(Workflow, TwentyThousandNodesInAChainAndThousandsInParallelEnd) {
  Workflow flow("many");
  Future<int> last = flow.Add({.name = "link"}, [] { return 0; });
  for (int i = 1; i < 20'000; ++i) last = flow.Add({.name = "link"}, [](int n) { return n + 1; }, last);
  std::atomic<int> leaves = 0;
  for (int i = 0; i < 5'000; ++i) flow.Add({.name = "leaf"}, [&leaves] { ++leaves; });
  ASSERT_TRUE(flow.Run({.threads = 4}).status.ok());
  EXPECT_EQ(*last.value(), 19'999);
  EXPECT_EQ(leaves, 5'000);
}

TEST(Workflow, WorkflowMayRunInsideATask) {
  Workflow outer("outer");
  const Future<int> result = outer.Add({.name = "inner run"}, [] {
    Workflow inner("inner");
    const Future<int> value = inner.Add({.name = "value"}, [] { return 9; });
    return inner.Run({.threads = 1}).status.ok() ? *value.value() : -1;
  });
  ASSERT_TRUE(outer.Run({.threads = 1}).status.ok());
  EXPECT_EQ(*result.value(), 9);
}

}  // namespace
}  // namespace wf
