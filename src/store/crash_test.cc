// What other processes do to a store: die while writing, or write at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "store/test_support.h"

namespace wf::store {
namespace {

using ::testing::SizeIs;

// Puts a row every millisecond for ever. Tells `pipe` each second how many rows it had put a second before.
[[noreturn]] void WriteUntilKilled(const std::filesystem::path& folder, const profile::Run& run, int pipe) {
  Result<std::unique_ptr<Store>> store = Store::Open(folder, Access::kReadWrite);
  if (!store.ok()) _exit(1);
  Result<std::unique_ptr<RunWriter>> writer = (*store)->BeginRun(run, MakeOwner());
  if (!writer.ok()) _exit(2);
  (*writer)->PutTask(MakeTask(1, "load"));
  for (uint64_t id = 1;; ++id) {
    (*writer)->PutNode(MakeNode(id));
    (*writer)->PutAttempt(MakeAttempt(id, id % 2 == 0 ? base::AttemptState::kSuccess : base::AttemptState::kRunning));
    (*writer)->AddLog({id, static_cast<int64_t>(id), profile::Stream::kStdout, 0, "line"});
    (*writer)->PutSeries("rss", {1, 0, static_cast<int64_t>(id), 1.0});
    if (id == 200) (void)!write(pipe, &id, sizeof(id));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Crash, AKilledOwnerLosesAtMostASecondAndItsRunReadsAsLost) {
  for (int round = 0; round < 5; ++round) {
    const TempFolder folder;
    const profile::Run run = MakeRun();
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t pid = fork();
    if (pid == 0) WriteUntilKilled(folder / ".wf", run, pipe[1]);
    close(pipe[1]);  // so that a child that fails ends the wait
    uint64_t put = 0;
    ASSERT_EQ(read(pipe[0], &put, sizeof(put)), static_cast<ssize_t>(sizeof(put)));
    // A second, and slack for a busy machine.
    std::this_thread::sleep_for(std::chrono::milliseconds(3000 + 77 * round));
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
    for (const Access access : {Access::kRead, Access::kReadWrite}) {
      const auto store = OpenStore(folder / ".wf", access);
      const profile::RunRecord record = Loaded(*store, run.id);
      EXPECT_GE(record.nodes.size(), put);
      EXPECT_GE(record.attempts.size(), put);
      EXPECT_GE(store->Logs(run.id, {})->size(), put);
      EXPECT_GE(store->Series(run.id)->at("rss").size(), put);
      EXPECT_EQ(record.run.state, base::RunState::kLost);
      EXPECT_EQ(record.run.cause, "owner process " + std::to_string(pid) + " ended without closing the run");
      EXPECT_GT(record.run.end_ns, record.run.start_ns);
      for (const profile::Attempt& attempt : record.attempts) EXPECT_NE(attempt.state, base::AttemptState::kRunning);
      const auto lost =
          store->ListRuns({.workflow = "", .state = base::RunState::kLost, .since_wall_ns = 0, .limit = 0});
      ASSERT_THAT(*lost, SizeIs(1));
      EXPECT_GE((*lost)[0].nodes, put);
    }
    EXPECT_TRUE(IsOk(OpenStore(folder / ".wf")->Remove(run.id)));
    close(pipe[0]);
  }
}

// A whole run of `nodes` nodes with flushes in between; the exit status of the process.
int WriteRun(const std::filesystem::path& folder, profile::Run run, uint64_t nodes) {
  Result<std::unique_ptr<Store>> store = Store::Open(folder, Access::kReadWrite);
  if (!store.ok()) return 1;
  Result<std::unique_ptr<RunWriter>> writer = (*store)->BeginRun(run, MakeOwner());
  if (!writer.ok()) return 2;
  (*writer)->PutTask(MakeTask(1, "load"));
  for (uint64_t id = 1; id <= nodes; ++id) {
    (*writer)->PutNode(MakeNode(id));
    (*writer)->PutAttempt(MakeAttempt(id));
    (*writer)->AddLog({id, static_cast<int64_t>(id), profile::Stream::kLog, 20, run.workflow});
    if (id % 50 == 0 && !(*writer)->Flush().ok()) return 3;
  }
  run.state = base::RunState::kSuccess;
  (*writer)->PutRun(run);
  if (!(*writer)->Close().ok()) return 4;
  return (*writer)->LostRows() == 0 ? 0 : 5;
}

TEST(Crash, TwoProcessesWriteIntoOneStoreAtOnceAndLoseNothing) {
  const TempFolder folder;
  const profile::Run runs[] = {MakeRun("a"), MakeRun("b")};
  std::vector<pid_t> children;
  for (const profile::Run& run : runs) {
    const pid_t pid = fork();
    if (pid == 0) _exit(WriteRun(folder / ".wf", run, 2'000));
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  const auto store = OpenStore(folder / ".wf", Access::kRead);
  for (const profile::Run& run : runs) {
    const profile::RunRecord record = Loaded(*store, run.id);
    EXPECT_EQ(record.run.state, base::RunState::kSuccess);
    EXPECT_THAT(record.nodes, SizeIs(2'000));
    EXPECT_THAT(record.attempts, SizeIs(2'000));
    EXPECT_THAT(*store->Logs(run.id, {}), SizeIs(2'000));
    EXPECT_EQ(store->Logs(run.id, {})->front().text, run.workflow);
  }
}

}  // namespace
}  // namespace wf::store
