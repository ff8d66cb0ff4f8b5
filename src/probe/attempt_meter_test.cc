#include "probe/attempt_meter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "probe/burn_testing.h"
#include "probe/high_water.h"

namespace wf::probe {
namespace {

using profile::Quality;

bool CanResetPeak() { return HighWaterMark().resettable(); }

void Burn(std::latch* begun) {
  begun->arrive_and_wait();
  BurnCpu(100 * kMs);
}

void WriteAndReadFile(size_t bytes) {
  char name[] = "/tmp/wf_probe_XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  unlink(name);
  const std::string block(1 << 20, 'x');
  for (size_t done = 0; done < bytes; done += block.size()) {
    ASSERT_EQ(write(fd, block.data(), block.size()), static_cast<ssize_t>(block.size()));
  }
  std::string back(1 << 20, ' ');
  ASSERT_EQ(pread(fd, back.data(), back.size(), 0), static_cast<ssize_t>(back.size()));
  close(fd);
}

// So that the next attempt takes a begin reading of its own.
void LetReadingsAge() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

// Within 10 % and the cost of what surrounds it.
void ExpectCpuNear(const AttemptCost& cost, int64_t truth_ns) {
  EXPECT_GE(cost.usage.cpu_ns.value, truth_ns);
  EXPECT_LE(cost.usage.cpu_ns.value, truth_ns + truth_ns / 10 + 5 * kMs);
}

TEST(AttemptMeterTest, ATrivialAttemptHasWallAndOwnCpuOnly) {
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  BurnCpu(50'000);
  const AttemptCost cost = meter.End();
  EXPECT_GE(cost.end_ns - cost.start_ns, 50'000);
  EXPECT_GE(cost.usage.cpu_ns.value, 50'000);
  EXPECT_LE(cost.usage.cpu_ns.value, cost.end_ns - cost.start_ns + 1000);
  EXPECT_EQ(cost.usage.cpu_ns.quality, Quality::kMeasured);
  EXPECT_TRUE(cost.alone);
  if (cost.end_ns - cost.start_ns < kMs) {
    EXPECT_FALSE(cost.usage.memory_peak_bytes.present());
  }
}

TEST(AttemptMeterTest, CountsCpuOfItsOwnThread) {
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  BurnCpu(200 * kMs);
  const AttemptCost cost = meter.End();
  ExpectCpuNear(cost, 200 * kMs);
  EXPECT_EQ(cost.usage.cpu_ns.quality, Quality::kMeasured);
}

TEST(AttemptMeterTest, CountsHelperThreadsOfAnAttemptThatRunsAlone) {
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  std::thread a([] { BurnCpu(100 * kMs); });
  std::thread b([] { BurnCpu(100 * kMs); });
  a.join();
  b.join();
  const AttemptCost cost = meter.End();
  ExpectCpuNear(cost, 200 * kMs);
  EXPECT_EQ(cost.usage.cpu_ns.quality, Quality::kMeasured);
  EXPECT_LT(cost.own_cpu_ns, 50 * kMs);
}

TEST(AttemptMeterTest, CountsChildrenThatEndedWithin) {
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      BurnCpu(50 * kMs);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  ExpectCpuNear(meter.End(), 200 * kMs);
}

TEST(AttemptMeterTest, LeavesOutThreadsOfTheProfiler) {
  std::latch begun(2);
  std::thread service([&] {
    RegisterServiceThread();
    Burn(&begun);
  });
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  begun.arrive_and_wait();
  service.join();
  BurnCpu(50 * kMs);
  ExpectCpuNear(meter.End(), 50 * kMs);
}

TEST(AttemptMeterTest, OverlappingAttemptsGetTheirOwnThreadEach) {
  std::latch begun(2);
  AttemptCost costs[2];
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      AttemptMeter meter;
      meter.Begin(Depth::kOverOneMs);
      begun.arrive_and_wait();
      BurnCpu((i + 1) * 100 * kMs);
      costs[i] = meter.End();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(costs[i].alone);
    ExpectCpuNear(costs[i], (i + 1) * 100 * kMs);
    EXPECT_EQ(costs[i].usage.cpu_ns.quality, Quality::kMeasured);
  }
}

TEST(AttemptMeterTest, CpuIsALowerBoundWhenHelpersWorkWhileAttemptsOverlap) {
  AttemptMeter other;
  std::latch begun(2);
  std::latch done(1);
  std::thread overlapping([&] {
    other.Begin(Depth::kOverOneMs);
    begun.arrive_and_wait();
    done.wait();
    other.End();
  });
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  begun.arrive_and_wait();
  std::thread helper([] { BurnCpu(100 * kMs); });
  helper.join();
  const AttemptCost cost = meter.End();
  done.count_down();
  overlapping.join();
  EXPECT_EQ(cost.usage.cpu_ns.quality, Quality::kEstimated);
  EXPECT_LT(cost.usage.cpu_ns.value, 50 * kMs);
}

TEST(AttemptMeterTest, SeesAMemorySpikeWhole) {
  const int64_t before = ResidentBytes();
  bool measured = false;
  for (int round = 0; round < 20 && !measured; ++round) {
    LetReadingsAge();
    AttemptMeter meter;
    meter.Begin(Depth::kOverOneMs);
    SpikeMemory(300 * kMiB);
    const AttemptCost cost = meter.End();
    EXPECT_GE(cost.usage.memory_peak_bytes.value, 300 * kMiB * 95 / 100);
    EXPECT_LE(cost.usage.memory_peak_bytes.value, before + kMostResidentPerByte * 300 * kMiB + 64 * kMiB);
    // A begin reading that took long, as on a busy machine or in a slow build, makes it an estimate, and rightly.
    measured = cost.usage.memory_peak_bytes.quality == Quality::kMeasured;
  }
  if (CanResetPeak()) {
    EXPECT_TRUE(measured);
  }
}

TEST(AttemptMeterTest, ANextAttemptIsNotChargedWithTheSpikeBeforeIt) {
  if (!CanResetPeak()) GTEST_SKIP() << "/proc/self/clear_refs cannot be written here";
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  SpikeMemory(300 * kMiB);
  meter.End();
  meter.Begin(Depth::kOverOneMs);
  BurnCpu(5 * kMs);
  const AttemptCost cost = meter.End();
  EXPECT_LT(cost.usage.memory_peak_bytes.value, 150 * kMiB);
}

TEST(AttemptMeterTest, OneAttemptDoesNotEraseTheSpikeOfAnother) {
  AttemptMeter outer;
  outer.Begin(Depth::kOverOneMs);
  SpikeMemory(300 * kMiB);
  std::thread([] {
    for (int i = 0; i < 5; ++i) {
      AttemptMeter inner;
      inner.Begin(Depth::kOverOneMs);
      BurnCpu(3 * kMs);
      inner.End();
    }
  }).join();
  const AttemptCost cost = outer.End();
  EXPECT_GE(cost.usage.memory_peak_bytes.value, 300 * kMiB * 95 / 100);
  if (CanResetPeak()) {
    EXPECT_EQ(cost.usage.memory_peak_bytes.quality, Quality::kShared);
  }
}

TEST(AttemptMeterTest, CountsBytesWrittenAndRead) {
  // On a busy machine the begin reading can be interrupted, and the figure is then rightly called an estimate.
  bool measured = false;
  for (int round = 0; round < 20 && !measured; ++round) {
    LetReadingsAge();
    AttemptMeter meter;
    meter.Begin(Depth::kAlways);
    WriteAndReadFile(10 * kMiB);
    const AttemptCost cost = meter.End();
    if (!cost.usage.write_bytes.present()) GTEST_SKIP() << "/proc/self/io cannot be read here";
    EXPECT_EQ(cost.usage.write_bytes.value, 10 * kMiB);
    EXPECT_EQ(cost.usage.read_bytes.value, kMiB);
    measured = cost.usage.write_bytes.quality == Quality::kMeasured;
  }
  EXPECT_TRUE(measured);
}

TEST(AttemptMeterTest, OverlappingAttemptsGetTheirOwnBytes) {
  LetReadingsAge();
  AttemptMeter idle;
  idle.Begin(Depth::kOverOneMs);
  AttemptCost busy;
  std::thread([&] {
    AttemptMeter meter;
    meter.Begin(Depth::kOverOneMs);
    WriteAndReadFile(10 * kMiB);
    BurnCpu(2 * kMs);
    busy = meter.End();
  }).join();
  BurnCpu(2 * kMs);
  const AttemptCost cost = idle.End();
  if (!cost.usage.write_bytes.present()) GTEST_SKIP() << "/proc/thread-self/io cannot be read here";
  EXPECT_LT(cost.usage.write_bytes.value, 4096);  // a sanitizer writes a few bytes into pipes
  EXPECT_EQ(busy.usage.write_bytes.value, 10 * kMiB);
}

TEST(AttemptMeterTest, AReusedBeginReadingMakesIoAndMemoryEstimates) {
  AttemptMeter meter;
  bool reused = false;
  for (int i = 0; i < 100 && !reused; ++i) {  // under load the trivial attempt may happen to last a millisecond
    meter.Begin(Depth::kOverOneMs);
    const AttemptCost trivial = meter.End();
    meter.Begin(Depth::kOverOneMs);
    const int64_t started = base::MonotonicNs();
    BurnCpu(20 * kMs);
    const AttemptCost cost = meter.End();
    EXPECT_GE(cost.usage.cpu_ns.value, 20 * kMs);
    EXPECT_TRUE(cost.usage.memory_peak_bytes.present());
    reused = started - trivial.start_ns < kMs / 2 && cost.usage.memory_peak_bytes.quality == Quality::kEstimated;
  }
  EXPECT_TRUE(reused);
}

TEST(AttemptMeterTest, ASuspendedAttemptIsNotChargedWithWhatItsThreadDoesMeanwhile) {
  AttemptMeter first;
  AttemptMeter second;
  first.Begin(Depth::kOverOneMs);
  BurnCpu(20 * kMs);
  first.Suspend();
  second.Begin(Depth::kOverOneMs);
  BurnCpu(60 * kMs);
  const AttemptCost inner = second.End();
  first.Resume();
  BurnCpu(20 * kMs);
  const AttemptCost outer = first.End();
  ExpectCpuNear(outer, 40 * kMs);
  ExpectCpuNear(inner, 60 * kMs);
  EXPECT_GE(outer.end_ns - outer.start_ns, 100 * kMs);
}

TEST(AttemptMeterTest, ASuspendedAttemptThatIsAloneLeavesOutTheEventLoop) {
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  BurnCpu(20 * kMs);
  meter.Suspend();
  BurnCpu(100 * kMs);  // the loop's own work
  const AttemptCost cost = meter.End();
  EXPECT_TRUE(cost.alone);
  ExpectCpuNear(cost, 20 * kMs);
}

TEST(AttemptMeterTest, AnEndOnAnotherThreadLeavesShortCpuAbsent) {
  AttemptMeter meter;
  meter.Begin(Depth::kCheap);
  AttemptCost cost;
  std::thread([&] { cost = meter.End(); }).join();
  EXPECT_FALSE(cost.usage.cpu_ns.present());
  EXPECT_GE(cost.end_ns, cost.start_ns);
}

TEST(AttemptMeterTest, AnAbandonedAttemptDoesNotOverlapWithLaterOnes) {
  {
    AttemptMeter abandoned;
    abandoned.Begin(Depth::kOverOneMs);
  }
  AttemptMeter meter;
  meter.Begin(Depth::kOverOneMs);
  EXPECT_TRUE(meter.End().alone);
}

TEST(AttemptMeterTest, CpuNeverExceedsWallTimesCpus) {
  const int64_t cpus = std::max(1U, std::thread::hardware_concurrency());
  AttemptMeter meter;
  for (int i = 0; i < 300; ++i) {
    meter.Begin(i % 2 == 0 ? Depth::kAlways : Depth::kOverOneMs);
    std::thread([] { BurnCpu(kMs / 4); }).join();
    const AttemptCost cost = meter.End();
    EXPECT_GE(cost.usage.cpu_ns.value, 0);
    EXPECT_LE(cost.usage.cpu_ns.value, (cost.end_ns - cost.start_ns) * cpus + 1000);
  }
}

TEST(AttemptMeterTest, AForkedChildEndsItsCopyWithWallTimeOnlyAndMeasuresAnew) {
  auto meter = std::make_unique<AttemptMeter>();
  meter->Begin(Depth::kAlways);
  BurnCpu(50 * kMs);
  const pid_t child = fork();
  if (child == 0) {
    const AttemptCost copy = meter->End();
    int wrong = copy.usage == profile::Usage{} && copy.end_ns > copy.start_ns ? 0 : 1;
    AttemptMeter own;
    own.Begin(Depth::kAlways);
    BurnCpu(20 * kMs);
    const AttemptCost cost = own.End();
    if (!cost.alone) wrong |= 2;
    if (cost.usage.cpu_ns.value < 20 * kMs || cost.usage.cpu_ns.value > 40 * kMs) wrong |= 4;
    if (!cost.usage.memory_peak_bytes.present()) wrong |= 8;
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GE(meter->End().usage.cpu_ns.value, 50 * kMs);
}

TEST(AttemptMeterTest, TimeWithoutACpuIsToldApartFromSleep) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // this thread, and the child that it makes
  const pid_t rival = fork();
  if (rival == 0) {
    for (;;) BurnCpu(kMs);
  }
  AttemptMeter meter;
  meter.Begin(Depth::kAlways);
  BurnCpu(200 * kMs);
  const AttemptCost busy = meter.End();
  kill(rival, SIGKILL);
  waitpid(rival, nullptr, 0);
  sched_setaffinity(0, sizeof before, &before);
  ASSERT_TRUE(busy.usage.cpu_wait_ns.present());
  EXPECT_GE(busy.usage.cpu_wait_ns.value, 50 * kMs);  // half of the CPU went to the rival
  EXPECT_LE(busy.usage.cpu_wait_ns.value, busy.end_ns - busy.start_ns);

  meter.Begin(Depth::kAlways);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const AttemptCost asleep = meter.End();
  EXPECT_LE(asleep.usage.cpu_wait_ns.value, (asleep.end_ns - asleep.start_ns) / 2);
}

TEST(AttemptMeterTest, ManyThreadsOfTrivialAttemptsLoseNoOne) {
  constexpr int kAttempts = 20'000;
  std::vector<std::thread> threads;
  std::atomic<int64_t> negative{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      AttemptMeter meter;
      for (int i = 0; i < kAttempts; ++i) {
        meter.Begin(Depth::kOverOneMs);
        if (meter.End().usage.cpu_ns.value < 0) ++negative;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(negative.load(), 0);
  AttemptMeter last;
  last.Begin(Depth::kOverOneMs);
  EXPECT_TRUE(last.End().alone);
}

}  // namespace
}  // namespace wf::probe
