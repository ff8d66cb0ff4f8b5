// What is told about a run of the public API besides its report: spans, and the observer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dag/observer.h"
#include "wf/span.h"
#include "wf/workflow.h"

namespace wf {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(WorkflowSpan, SpansNestAndCarryTheirTask) {
  Workflow flow("spans");
  const auto task = flow.Add({.name = "task"}, [] {
    const Span outer("outer");
    const Span inner("inner");
  });
  const RunReport report = flow.Run();
  ASSERT_THAT(report.spans, SizeIs(2));
  EXPECT_EQ(report.spans[0].name, "outer");
  EXPECT_EQ(report.spans[0].depth, 0u);
  EXPECT_EQ(report.spans[1].depth, 1u);
  EXPECT_EQ(report.spans[1].node, task.index());
  EXPECT_LE(report.spans[0].start_ns, report.spans[1].start_ns);
  EXPECT_GE(report.spans[0].end_ns, report.spans[1].end_ns);
}

TEST(WorkflowSpan, SpanOutsideATaskDoesNothing) { const Span span("nowhere"); }

TEST(WorkflowSpan, SpanThatAnExceptionEndsIsRecorded) {
  Workflow flow("thrown");
  flow.Add({.name = "task"}, [] {
    const Span span("half");
    throw std::runtime_error("stop");
  });
  const RunReport report = flow.Run();
  ASSERT_THAT(report.spans, SizeIs(1));
  EXPECT_GE(report.spans[0].end_ns, report.spans[0].start_ns);
  EXPECT_NE(report.spans[0].end_ns, 0);
}

TEST(WorkflowSpan, SpansBeyondTheBoundAreCountedNotKept) {
  Workflow flow("bounded");
  flow.Add({.name = "task"}, [] {
    for (int i = 0; i < 10; ++i) const Span span("piece");
  });
  const RunReport report = flow.Run({.threads = 1, .max_spans = 4});
  EXPECT_THAT(report.spans, SizeIs(4));
  EXPECT_EQ(report.spans_dropped, 6u);
}

// What an observer hears of one node that is tried twice.
class Listener : public dag::Observer {
 public:
  void OnNodeAdded(dag::NodeId, uint32_t, dag::NodeId) override { heard.push_back("added"); }
  void OnNodeReady(dag::NodeId, uint32_t, int64_t) override { heard.push_back("ready"); }
  void OnAttemptStarted(dag::NodeId, uint32_t, int64_t) override { heard.push_back("started"); }
  void OnAttemptFinished(const dag::AttemptReading& r) override {
    heard.push_back(std::string(base::Name(r.state)) + (r.retried ? ", again" : ""));
  }
  void OnSpan(const dag::SpanReading& r) override { heard.push_back("span " + r.name); }
  void OnNodeFinal(dag::NodeId, dag::NodeState state, dag::NodeId) override {
    heard.push_back("node " + std::string(base::Name(state)));
  }
  void OnRunFinal(dag::RunState state) override { heard.push_back("run " + std::string(base::Name(state))); }
  std::vector<std::string> heard;
};

TEST(WorkflowObserver, HearsEveryStepInOrder) {
  Listener listener;
  Workflow flow("observed");
  dag::Observe(flow, &listener);
  bool again = false;
  flow.Add({.name = "task", .max_retries = 1}, [&again] {
    const Span span("s");
    if (!std::exchange(again, true)) throw std::runtime_error("once");
  });
  ASSERT_TRUE(flow.Run().status.ok());
  EXPECT_THAT(listener.heard, ElementsAre("added", "ready", "started", "span s", "error, again", "ready", "started",
                                          "span s", "success", "node success", "run success"));
}

}  // namespace
}  // namespace wf
