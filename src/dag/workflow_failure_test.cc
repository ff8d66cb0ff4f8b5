// Failing tasks, retries and wrong graphs of the public API, with real threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "wf/workflow.h"

namespace wf {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(WorkflowFailure, ExceptionFailsItsTaskAndSkipsOnlyItsDependants) {
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

TEST(WorkflowFailure, ThrownThingThatIsNoExceptionFailsItsTask) {
  Workflow flow("odd");
  // NOLINTNEXTLINE(bugprone-std-exception-baseclass): users may throw anything
  flow.Add({.name = "throws"}, [] { throw 42; });
  EXPECT_THAT(flow.Run().status.message(), HasSubstr("no std::exception"));
}

TEST(WorkflowFailure, StatusAndResultThatAreNotOkFailTheirTask) {
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

TEST(WorkflowFailure, FailingTaskIsRetriedAndEveryAttemptIsReported) {
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

TEST(WorkflowFailure, LimitHoldsForThrowingTasksToo) {
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

TEST(WorkflowFault, CycleIsReportedWithItsPathAndNothingRuns) {
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

TEST(WorkflowFault, SecondRunIsRefused) {
  Workflow flow("once");
  flow.Add({.name = "task"}, [] {});
  ASSERT_TRUE(flow.Run().status.ok());
  EXPECT_EQ(flow.Run().status.code(), Code::kFailedPrecondition);
}

// Builds a wrong workflow and expects that Run refuses it with `message`.
template <typename Build>
void ExpectRefused(Build build, const char* message) {
  Workflow flow("wrong");
  build(flow);
  const RunReport report = flow.Run();
  EXPECT_EQ(report.status.code(), Code::kInvalidArgument);
  EXPECT_EQ(report.state, RunState::kFailed);
  EXPECT_THAT(report.status.message(), HasSubstr(message));
}

void Nothing() {}
void TakesInt(int) {}

TEST(WorkflowFault, LimitOfZeroIsReportedByRun) {
  ExpectRefused([](Workflow& flow) { flow.Limit("gpu", 0); }, "capacity 0");
}

TEST(WorkflowFault, UnknownLimitIsReportedByRun) {
  ExpectRefused([](Workflow& flow) { flow.Add({.name = "t", .limits = {"gpu"}}, Nothing); },
                "'gpu', which does not exist");
}

TEST(WorkflowFault, TaskWithoutANameIsReportedByRun) {
  ExpectRefused([](Workflow& flow) { flow.Add({.name = ""}, Nothing); }, "without a name");
}

TEST(WorkflowFault, RetriesAndBackoffThatMakeNoSenseAreReportedByRun) {
  ExpectRefused([](Workflow& flow) { flow.Add({.name = "t", .max_retries = -1}, Nothing); }, "-1 retries");
  ExpectRefused([](Workflow& flow) { flow.Add({.name = "t", .backoff = 0.1}, Nothing); }, "backoff");
}

TEST(WorkflowFault, FutureOfNoNodeIsReportedByRun) {
  ExpectRefused([](Workflow& flow) { flow.Add({.name = "t"}, TakesInt, Future<int>()); }, "needs a future that no");
}

TEST(WorkflowFault, FutureOfAnotherWorkflowIsReportedByRun) {
  Workflow other("other");
  const Future<int> foreign = other.Add({.name = "foreign"}, [] { return 1; });
  ExpectRefused([&](Workflow& flow) { flow.Add({.name = "t"}, TakesInt, foreign); }, "of another workflow");
}

}  // namespace
}  // namespace wf
