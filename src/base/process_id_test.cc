#include "base/process_id.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace wf::base {
namespace {

char StateOfProcess(pid_t pid) {
  std::string line;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), line);
  return line.at(line.rfind(')') + 2);
}

TEST(ProcessId, ThisProcessIsAlive) {
  const ProcessId self = ProcessId::Self();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_GT(self.start_ticks, 0);
  EXPECT_FALSE(self.boot_id.empty());
  EXPECT_EQ(LivenessOf(self), Liveness::kAlive);
}

TEST(ProcessId, TheStartSurvivesBlanksAndBracketsInTheProgramsName) {
  const int64_t before = ProcessId::Self().start_ticks;
  char name[16] = {};
  ASSERT_EQ(prctl(PR_GET_NAME, name), 0);
  ASSERT_EQ(prctl(PR_SET_NAME, "a) b) R 1 2"), 0);
  EXPECT_EQ(StartTicksOf(getpid()), before);
  ASSERT_EQ(prctl(PR_SET_NAME, name), 0);
  EXPECT_EQ(StartTicksOf(-1), std::nullopt);
  EXPECT_EQ(StartTicksOf(INT32_MAX), std::nullopt);
}

TEST(ProcessId, SamePidWithAnotherStartTimeIsDead) {
  ProcessId recycled = ProcessId::Self();
  recycled.start_ticks -= 1;
  EXPECT_EQ(LivenessOf(recycled), Liveness::kDead);
}

TEST(ProcessId, EndedChildIsDeadBeforeAndAfterItsParentWaited) {
  int to_parent[2];
  int to_child[2];
  ASSERT_EQ(pipe(to_parent), 0);
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  char byte = 0;
  if (pid == 0) {
    (void)!read(to_child[0], &byte, 1);
    _exit(0);
  }
  ProcessId child = ProcessId::Self();
  child.pid = pid;
  child.start_ticks = StartTicksOf(pid).value_or(0);
  EXPECT_EQ(LivenessOf(child), Liveness::kAlive);
  ASSERT_EQ(write(to_child[1], &byte, 1), 1);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);  // leaves the zombie there
  EXPECT_EQ(LivenessOf(child), Liveness::kDead);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(LivenessOf(child), Liveness::kDead);
  for (const int fd : {to_parent[0], to_parent[1], to_child[0], to_child[1]}) close(fd);
}

TEST(ProcessId, AnotherBootOfThisHostIsRebootedAndOfAnotherHostUnknown) {
  ProcessId before = ProcessId::Self();
  before.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_EQ(LivenessOf(before), Liveness::kRebooted);
  before.host = "elsewhere.example";
  EXPECT_EQ(LivenessOf(before), Liveness::kUnknown);
}

TEST(ProcessId, AnotherPidNamespaceIsUnknown) {
  ProcessId contained = ProcessId::Self();
  contained.pid_namespace += 1;
  EXPECT_EQ(LivenessOf(contained), Liveness::kUnknown);
}

TEST(ProcessId, AProcessWhoseMainThreadExitedLivesOnInItsOtherThreads) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    std::thread([fd = ready[1]] {
      while (StateOfProcess(getpid()) != 'Z') std::this_thread::yield();
      (void)!write(fd, "x", 1);
      pause();
    }).detach();
    syscall(SYS_exit, 0);  // of this thread alone
  }
  close(ready[1]);
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(StartTicksOf(pid).has_value());
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(StartTicksOf(pid).has_value());
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  close(ready[0]);
}

}  // namespace
}  // namespace wf::base
