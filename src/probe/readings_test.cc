#include "probe/readings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "probe/burn_testing.h"
#include "probe/proc_text.h"
#include "probe/thread_registry.h"

namespace wf::probe {
namespace {

// What /proc/self/fd links to, for descriptors of /proc files.
std::vector<std::string> OpenProcFiles() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.starts_with("/proc/") && (target.ends_with("/io") || target.ends_with("/schedstat")))
      found.push_back(target);
  }
  return found;
}

TEST(ReadingsTest, NeverFall) {
  FullReading last = FullReading::Now();
  for (int i = 0; i < 1000; ++i) {
    const FullReading now = FullReading::Now();
    EXPECT_GE(now.wall_ns, last.wall_ns);
    EXPECT_GE(now.thread_cpu_ns, last.thread_cpu_ns);
    EXPECT_GE(now.process_cpu_ns, last.process_cpu_ns);
    EXPECT_GE(now.children_cpu_ns, last.children_cpu_ns);
    EXPECT_GE(now.process_io.read_bytes, last.process_io.read_bytes);
    last = now;
  }
}

TEST(ReadingsTest, DoNotCountTheirOwnReads) {
  FullReading::Now();
  const FullReading begin = FullReading::Now();
  if (!begin.thread_io.present()) GTEST_SKIP() << "/proc/thread-self/io cannot be read here";
  for (int i = 0; i < 100; ++i) FullReading::Now();
  const FullReading end = FullReading::Now();
  EXPECT_EQ(end.thread_io.read_bytes, begin.thread_io.read_bytes);
  EXPECT_EQ(end.process_io.read_bytes, begin.process_io.read_bytes);
  EXPECT_EQ(end.thread_io.write_bytes, begin.thread_io.write_bytes);
}

TEST(ReadingsTest, TellServiceThreadsFromTheRest) {
  const FullReading begin = FullReading::Now();
  std::thread([] {
    RegisterServiceThread();
    BurnCpu(50 * kMs);
  }).join();
  const FullReading end = FullReading::Now();
  EXPECT_GE(end.service_cpu_ns - begin.service_cpu_ns, 50 * kMs);
  EXPECT_GE(end.process_cpu_ns - begin.process_cpu_ns, end.service_cpu_ns - begin.service_cpu_ns);
}

TEST(ReadingsTest, AForkedChildReadsItselfAndKeepsNoFileOfItsParent) {
  const FullReading parent = FullReading::Now();
  BurnCpu(100 * kMs);
  std::string own = "/proc/" + std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    const FullReading mine = FullReading::Now();
    int wrong = mine.process_cpu_ns < 50 * kMs ? 0 : 1;
    if (parent.process_io.present() && !mine.process_io.present()) wrong |= 2;
    if (mine.process_io.write_bytes > 4096) wrong |= 4;
    for (const std::string& file : OpenProcFiles()) {
      if (file.starts_with(own + "/")) wrong |= 8;
    }
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ReadingsTest, KeepNoDescriptorOfAnEndedThread) {
  FullReading::Now();
  const size_t before = OpenProcFiles().size();
  for (int i = 0; i < 20; ++i) {
    std::thread([] {
      RegisterAttemptThread();
      FullReading::Now();
    }).join();
  }
  EXPECT_EQ(OpenProcFiles().size(), before);
}

TEST(ReadingsTest, ManyAttemptThreadsMakeTheirSumAbsentNotWrong) {
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  for (int i = 0; i < ThreadRegistry::kMostAttemptThreads + 4; ++i) {
    threads.emplace_back([&] {
      RegisterAttemptThread();
      ++ready;
      go.wait(false);
    });
  }
  while (ready.load() < ThreadRegistry::kMostAttemptThreads + 4) std::this_thread::yield();
  EXPECT_EQ(FullReading::Now().attempt_threads_cpu_ns, kAbsent);
  go = true;
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(FullReading::Now().attempt_threads_cpu_ns, 0);
}

TEST(ProcTextTest, ReadsFieldsByWholeNameAtLineStart) {
  const std::string_view io = "rchar: 12\nwchar: 0\nread_bytes: 7\ncancelled_write_bytes: 9\n";
  EXPECT_EQ(FieldNumber(io, "rchar:", -1), 12);
  EXPECT_EQ(FieldNumber(io, "read_bytes:", -1), 7);
  EXPECT_EQ(FieldNumber(io, "write_bytes:", -1), -1);
  EXPECT_EQ(FieldNumber("", "rchar:", -1), -1);
  EXPECT_EQ(FieldNumber("rchar:", "rchar:", -1), -1);
}

TEST(ProcTextTest, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(ParseNumber("99999999999999999999", -1), -1);
  EXPECT_EQ(ParseNumber("max", -1), -1);
  size_t used = 0;
  EXPECT_EQ(ParseNumber("  42 7", -1, &used), 42);
  EXPECT_EQ(used, 4U);
}

}  // namespace
}  // namespace wf::probe
