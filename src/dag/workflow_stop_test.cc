// Cancel and time-outs of the public API, with real threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "wf/workflow.h"

namespace wf {
namespace {

using std::chrono::milliseconds;
using ::testing::SizeIs;

// Waits until the token is asked to stop; false after ten seconds without.
bool WaitForStop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, std::chrono::seconds(10), [] { return false; });
  return stop.stop_requested();
}

TEST(WorkflowStop, TaskOverItsTimeoutIsAskedToStopAndHasNoValue) {
  Workflow flow("slow");
  const Future<bool> slow = flow.Add({.name = "slow", .timeout = milliseconds(20)}, WaitForStop);
  const RunReport report = flow.Run();
  EXPECT_EQ(report.status.code(), Code::kTimeout);
  EXPECT_EQ(report.attempts[0].state, AttemptState::kTimeout);
  EXPECT_EQ(report.nodes[0].state, NodeState::kFailed);
  EXPECT_EQ(slow.value(), nullptr);
}

TEST(WorkflowStop, TaskThatIgnoresItsTimeoutCountsAsTimedOutWhenItReturns) {
  Workflow flow("deaf");
  flow.Add({.name = "deaf", .timeout = milliseconds(5)}, [] { std::this_thread::sleep_for(milliseconds(50)); });
  const RunReport report = flow.Run();
  EXPECT_EQ(report.attempts[0].state, AttemptState::kTimeout);
  EXPECT_GE(report.attempts[0].wall_ns(), 50'000'000);
}

TEST(WorkflowStop, TimeoutFiresWhileAllWorkersAreBusy) {
  Workflow flow("busy");
  flow.Add({.name = "slow", .timeout = milliseconds(20)}, WaitForStop);
  EXPECT_EQ(flow.Run({.threads = 1}).status.code(), Code::kTimeout);
}

TEST(WorkflowStop, CancelFromATaskStopsTheOthersAndStartsNothingMore) {
  Workflow flow("cancel");
  std::atomic<bool> started = false;
  std::atomic<int> later = 0;
  const auto waits = flow.Add({.name = "waits"}, [&started](const std::stop_token& stop) {
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

TEST(WorkflowStop, StopTokenOfTheCallerCancelsTheRun) {
  Workflow flow("stop");
  std::stop_source source;
  const auto waits = flow.Add({.name = "waits"}, [&source](const std::stop_token& stop) {
    source.request_stop();
    return WaitForStop(stop) ? Status(Code::kCancelled, "told to stop") : Status();
  });
  EXPECT_EQ(flow.Run({.threads = 1, .stop = source.get_token()}).state, RunState::kCancelled);
}

TEST(WorkflowStop, CancelBeforeRunRunsNothing) {
  Workflow flow("never");
  bool ran = false;
  flow.Add({.name = "task"}, [&ran] { ran = true; });
  flow.Cancel();
  EXPECT_EQ(flow.Run().state, RunState::kCancelled);
  EXPECT_FALSE(ran);
}

TEST(WorkflowStop, StopCallbackMayCallTheWorkflow) {
  Workflow flow("callback");
  flow.Add({.name = "waits", .timeout = milliseconds(5)}, [&flow](const std::stop_token& stop) {
    const std::stop_callback callback(stop, [&flow] { flow.Add({.name = "late"}, [] {}); });
    WaitForStop(stop);
  });
  EXPECT_THAT(flow.Run().nodes, SizeIs(2));
}

TEST(WorkflowStop, DestructorOfATaskMayCallTheWorkflow) {
  struct CallsBack {
    Workflow* flow;
    explicit CallsBack(Workflow* f) : flow(f) {}
    ~CallsBack() { flow->Cancel(); }
  };
  Workflow flow("destructor");
  flow.Add({.name = "task"}, [guard = std::make_unique<CallsBack>(&flow)] {});
  EXPECT_EQ(flow.Run().nodes[0].state, NodeState::kSuccess);
}

}  // namespace
}  // namespace wf
