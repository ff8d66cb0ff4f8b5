// The public API over the thread pool, with real threads.
#include "wf/workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "dag/observer.h"
#include "wf/span.h"

namespace wf {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Waits until the token is asked to stop; false after ten seconds without.
bool WaitForStop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, std::chrono::seconds(10), [] { return false; });
  return stop.stop_requested();
}

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

TEST(Workflow, ExceptionFailsItsTaskAndSkipsOnlyItsDependants) {
  Workflow flow("faulty");
  const Future<int> bad = flow.Add({.name = "bad"}, []() -> int { throw std::runtime_error("disk is full"); });
  const Future<int> behind = flow.Add({.name = "behind"}, [](int n) { return n; }, bad);
  const Future<int> good = flow.Add({.name = "good"}, [] { return 1; });
  const RunReport report = flow.Run({.threads = 2});
  EXPECT_EQ(report.state, RunState::kFailed);
  EXPECT_THAT(report.status.message(), HasSubstr("task 'bad' of workflow 'faulty' failed on attempt 1: disk is full"));
  EXPECT_EQ(report.nodes[bad.index()].state, NodeState::kFailed);
  EXPECT_THROW(std::rethrow_exception(report.nodes[bad.index()].exception), std::runtime_error);
  EXPECT_EQ(report.nodes[behind.index()].state, NodeState::kSkipped);
  EXPECT_EQ(report.nodes[behind.index()].cause, bad.index());
  EXPECT_EQ(behind.value(), nullptr);
  EXPECT_EQ(*good.value(), 1);
}

TEST(Workflow, ThrownThingThatIsNoExceptionFailsItsTask) {
  Workflow flow("odd");
  flow.Add({.name = "throws"}, [] { throw 42; });
  EXPECT_THAT(flow.Run().status.message(), HasSubstr("no std::exception"));
}

TEST(Workflow, StatusAndResultThatAreNotOkFailTheirTask) {
  Workflow flow("status");
  const Future<void> status = flow.Add({.name = "status"}, [] { return Status(Code::kIo, "no such disk"); });
  const Future<int> result =
      flow.Add({.name = "result"}, []() -> Result<int> { return Status(Code::kNotFound, "gone"); });
  const Future<int> fine = flow.Add({.name = "fine"}, []() -> Result<int> { return 5; });
  const RunReport report = flow.Run();
  EXPECT_EQ(report.nodes[status.index()].error.code(), Code::kIo);
  EXPECT_EQ(report.nodes[result.index()].error.code(), Code::kNotFound);
  EXPECT_EQ(result.value(), nullptr);
  EXPECT_EQ(*fine.value(), 5);
}

TEST(Workflow, FailingTaskIsRetriedAndEveryAttemptIsReported) {
  Workflow flow("retry");
  int calls = 0;
  const Future<int> flaky = flow.Add({.name = "flaky", .max_retries = 3, .retry_delay = milliseconds(1)}, [&calls] {
    if (++calls < 3) throw std::runtime_error("not yet");
    return calls;
  });
  const RunReport report = flow.Run();
  ASSERT_TRUE(report.status.ok()) << report.status.message();
  EXPECT_EQ(*flaky.value(), 3);
  ASSERT_THAT(report.attempts, SizeIs(3));
  EXPECT_EQ(report.attempts[0].state, AttemptState::kError);
  EXPECT_EQ(report.attempts[2].state, AttemptState::kSuccess);
  EXPECT_GE(report.attempts[1].start_ns - report.attempts[0].end_ns, 1'000'000);
  EXPECT_TRUE(report.nodes[0].error.ok());
}

TEST(Workflow, TaskOverItsTimeoutIsAskedToStopAndHasNoValue) {
  Workflow flow("slow");
  const Future<bool> slow = flow.Add({.name = "slow", .timeout = milliseconds(20)}, WaitForStop);
  const RunReport report = flow.Run();
  EXPECT_EQ(report.status.code(), Code::kTimeout);
  EXPECT_EQ(report.attempts[0].state, AttemptState::kTimeout);
  EXPECT_EQ(report.nodes[0].state, NodeState::kFailed);
  EXPECT_EQ(slow.value(), nullptr);
}

TEST(Workflow, TaskThatIgnoresItsTimeoutCountsAsTimedOutWhenItReturns) {
  Workflow flow("deaf");
  flow.Add({.name = "deaf", .timeout = milliseconds(5)}, [] { std::this_thread::sleep_for(milliseconds(50)); });
  const RunReport report = flow.Run();
  EXPECT_EQ(report.attempts[0].state, AttemptState::kTimeout);
  EXPECT_GE(report.attempts[0].wall_ns(), 50'000'000);
}

TEST(Workflow, TimeoutFiresWhileAllWorkersAreBusy) {
  Workflow flow("busy");
  flow.Add({.name = "slow", .timeout = milliseconds(20)}, WaitForStop);
  EXPECT_EQ(flow.Run({.threads = 1}).status.code(), Code::kTimeout);
}

TEST(Workflow, CancelFromATaskStopsTheOthersAndStartsNothingMore) {
  Workflow flow("cancel");
  std::atomic<bool> started = false;
  std::atomic<int> later = 0;
  const auto waits = flow.Add({.name = "waits"}, [&started](std::stop_token stop) {
    started = true;
    return WaitForStop(stop) ? Status(Code::kCancelled, "told to stop") : Status();
  });
  flow.Add({.name = "cancels"}, [&flow, &started] {
    while (!started) std::this_thread::yield();
    flow.Cancel();
  });
  for (int i = 0; i < 100; ++i) flow.Add({.name = "later"}, [&later] { ++later; }, waits);
  const RunReport report = flow.Run({.threads = 2});
  EXPECT_EQ(report.state, RunState::kCancelled);
  EXPECT_EQ(report.status.code(), Code::kCancelled);
  EXPECT_EQ(report.nodes[waits.index()].state, NodeState::kCancelled);
  EXPECT_EQ(later, 0);
}

TEST(Workflow, StopTokenOfTheCallerCancelsTheRun) {
  Workflow flow("stop");
  std::stop_source source;
  const auto waits = flow.Add({.name = "waits"}, [&source](std::stop_token stop) {
    source.request_stop();
    return WaitForStop(stop) ? Status(Code::kCancelled, "told to stop") : Status();
  });
  EXPECT_EQ(flow.Run({.threads = 1, .stop = source.get_token()}).state, RunState::kCancelled);
}

TEST(Workflow, CancelBeforeRunRunsNothing) {
  Workflow flow("never");
  bool ran = false;
  flow.Add({.name = "task"}, [&ran] { ran = true; });
  flow.Cancel();
  EXPECT_EQ(flow.Run().state, RunState::kCancelled);
  EXPECT_FALSE(ran);
}

TEST(Workflow, StopCallbackMayCallTheWorkflow) {
  Workflow flow("callback");
  flow.Add({.name = "waits", .timeout = milliseconds(5)}, [&flow](std::stop_token stop) {
    const std::stop_callback callback(stop, [&flow] { flow.Add({.name = "late"}, [] {}); });
    WaitForStop(stop);
  });
  EXPECT_THAT(flow.Run().nodes, SizeIs(2));
}

TEST(Workflow, LimitHoldsForThrowingTasksToo) {
  Workflow flow("limit");
  flow.Limit("disk", 2);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  for (int i = 0; i < 40; ++i) {
    flow.Add({.name = "write", .limits = {"disk"}}, [&inside, &most, i] {
      const int now = ++inside;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(milliseconds(1));
      --inside;
      if (i % 3 == 0) throw std::runtime_error("full");
    });
  }
  const RunReport report = flow.Run({.threads = 8});
  EXPECT_THAT(report.attempts, SizeIs(40));
  EXPECT_LE(most, 2);
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

TEST(Workflow, DestructorOfATaskMayCallTheWorkflow) {
  struct CallsBack {
    Workflow* flow;
    explicit CallsBack(Workflow* f) : flow(f) {}
    ~CallsBack() { flow->Cancel(); }
  };
  Workflow flow("destructor");
  flow.Add({.name = "task"}, [guard = std::make_unique<CallsBack>(&flow)] {});
  EXPECT_EQ(flow.Run().nodes[0].state, NodeState::kSuccess);
}

TEST(Workflow, CycleIsReportedWithItsPathAndNothingRuns) {
  Workflow flow("cycle");
  bool ran = false;
  const Future<int> a = flow.Add({.name = "a"}, [&ran] {
    ran = true;
    return 1;
  });
  const Future<int> b = flow.Add({.name = "b"}, [](int n) { return n; }, a);
  flow.After(a, b);
  const RunReport report = flow.Run();
  EXPECT_EQ(report.status.code(), Code::kInvalidArgument);
  EXPECT_THAT(report.status.message(), HasSubstr("a -> b -> a"));
  EXPECT_FALSE(ran);
}

TEST(Workflow, FaultsOfBuildingAreReportedByRun) {
  Workflow other("other");
  const Future<int> foreign = other.Add({.name = "foreign"}, [] { return 1; });
  const std::vector<std::pair<std::function<void(Workflow&)>, std::string>> faults = {
      {[](Workflow& f) { f.Limit("gpu", 0); }, "capacity 0"},
      {[](Workflow& f) { f.Add({.name = "t", .limits = {"gpu"}}, [] {}); }, "'gpu', which does not exist"},
      {[](Workflow& f) { f.Add({.name = ""}, [] {}); }, "without a name"},
      {[](Workflow& f) { f.Add({.name = "t", .max_retries = -1}, [] {}); }, "-1 retries"},
      {[](Workflow& f) { f.Add({.name = "t", .backoff = 0.1}, [] {}); }, "backoff"},
      {[](Workflow& f) { f.Add({.name = "t"}, [](int) {}, Future<int>()); }, "needs a future that no"},
      {[&](Workflow& f) { f.Add({.name = "t"}, [](int) {}, foreign); }, "of another workflow"},
  };
  for (const auto& [fault, message] : faults) {
    Workflow flow("wrong");
    fault(flow);
    const RunReport report = flow.Run();
    EXPECT_FALSE(report.status.ok());
    EXPECT_EQ(report.state, RunState::kFailed);
    EXPECT_THAT(report.status.message(), HasSubstr(message));
  }
  ASSERT_TRUE(other.Run().status.ok());
}

TEST(Workflow, SecondRunIsRefused) {
  Workflow flow("once");
  flow.Add({.name = "task"}, [] {});
  ASSERT_TRUE(flow.Run().status.ok());
  EXPECT_EQ(flow.Run().status.code(), Code::kFailedPrecondition);
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
