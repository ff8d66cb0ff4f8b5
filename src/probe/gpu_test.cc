#include "probe/gpu.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "probe/fake_nvml_testing.h"
#include "probe/recorded_tree_testing.h"

namespace wf::probe {
namespace {

using profile::Quality;

constexpr unsigned long long kGiB = 1ULL << 30;

// Waits for what a poll must bring; false after 20 s.
bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(WF_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    set_ = reinterpret_cast<FakeNvmlSet>(dlsym(library_, "FakeNvmlSet"));
    ASSERT_NE(set_, nullptr);
    Show(FakeNvml());
  }
  void TearDown() override { dlclose(library_); }

  void Show(const FakeNvml& state) { set_(&state); }
  static FakeNvml Using(std::initializer_list<FakeNvml::Process> processes) {
    FakeNvml state;
    for (const auto& process : processes) state.processes[state.process_count++] = process;
    return state;
  }
  static std::unique_ptr<GpuPoller> Poller(const std::string& proc_root = "") {
    auto poller = GpuPoller::Start({WF_FAKE_NVML, 5'000'000, proc_root});
    EXPECT_TRUE(poller.ok()) << poller.status().message();
    return poller.ok() ? std::move(poller).value() : nullptr;
  }
  static unsigned Me() { return static_cast<unsigned>(getpid()); }

  void* library_ = nullptr;
  FakeNvmlSet set_ = nullptr;
};

TEST(NvmlAbsentTest, SaysThatTheLibraryIsNotThere) {
  const auto nvml = Nvml::Open("libno-such-nvml.so.1");
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.status().code(), Code::kUnavailable);
  EXPECT_NE(nvml.status().message().find("libno-such-nvml.so.1"), std::string::npos);
}

TEST(NvmlAbsentTest, RefusesALibraryThatIsNotNvml) {
  const auto nvml = Nvml::Open("libc.so.6");
  ASSERT_FALSE(nvml.ok());
  EXPECT_NE(nvml.status().message().find("nvmlInit_v2"), std::string::npos);
}

TEST_F(GpuTest, ADriverThatDoesNotStartIsUnavailable) {
  FakeNvml state;
  state.init_result = 9;
  Show(state);
  const auto nvml = Nvml::Open(WF_FAKE_NVML);
  ASSERT_FALSE(nvml.ok());
  EXPECT_NE(nvml.status().message().find("Driver Not Loaded"), std::string::npos);
}

TEST_F(GpuTest, NoDeviceMeansNoPoller) {
  FakeNvml state;
  state.devices = 0;
  Show(state);
  EXPECT_EQ(GpuPoller::Start({WF_FAKE_NVML, 5'000'000, ""}).status().code(), Code::kUnavailable);
}

TEST_F(GpuTest, WhatIsNotAvailableStaysAbsent) {
  FakeNvml state = Using({{7, ~0ULL}});
  state.memory_supported = false;
  Show(state);
  auto nvml = Nvml::Open(WF_FAKE_NVML);
  ASSERT_TRUE(nvml.ok());
  EXPECT_EQ((*nvml)->DriverVersion(), "999.1");
  const auto devices = (*nvml)->Devices();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].name, "Fake GPU");
  EXPECT_FALSE(devices[0].used_bytes.has_value());
  const auto processes = (*nvml)->Processes();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_FALSE(processes[0].used_bytes.has_value());
}

TEST_F(GpuTest, AsksAgainWhenThereAreMoreProcessesThanExpected) {
  FakeNvml state;
  state.process_count = 200;
  for (unsigned i = 0; i < 200; ++i) state.processes[i] = {i + 1, i};
  Show(state);
  auto nvml = Nvml::Open(WF_FAKE_NVML);
  ASSERT_TRUE(nvml.ok());
  EXPECT_EQ((*nvml)->Processes().size(), 200U);
}

TEST_F(GpuTest, AddsUpTheSlicesOfOneProcess) {
  Show(Using({{7, kGiB, 1}, {7, kGiB, 2}}));
  auto nvml = Nvml::Open(WF_FAKE_NVML);
  ASSERT_TRUE(nvml.ok());
  const auto processes = (*nvml)->Processes();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0].used_bytes, static_cast<int64_t>(2 * kGiB));
}

TEST_F(GpuTest, RemembersThePeakOfOurProcessesAndNobodyElses) {
  Show(Using({{Me(), 3 * kGiB}, {Me() + 1, kGiB}, {4, 100 * kGiB}}));
  const auto poller = Poller();
  ASSERT_NE(poller, nullptr);
  poller->AddPid(static_cast<int32_t>(Me() + 1));
  const int64_t start = base::MonotonicNs();
  EXPECT_TRUE(Eventually([&] { return poller->PeakSince(start).value == static_cast<int64_t>(4 * kGiB); }));
  EXPECT_TRUE(Eventually([&] { return poller->PeakSince(start).quality == Quality::kMeasured; }));
  Show(Using({{Me(), kGiB}}));
  EXPECT_TRUE(Eventually([&] { return poller->Now()[0].used_bytes.value == static_cast<int64_t>(kGiB); }));
  EXPECT_EQ(poller->PeakSince(start).value, static_cast<int64_t>(4 * kGiB));
  const int64_t later = base::MonotonicNs();
  EXPECT_TRUE(Eventually([&] { return poller->PeakSince(later).quality == Quality::kMeasured; }));
  EXPECT_EQ(poller->PeakSince(later).value, static_cast<int64_t>(kGiB));
}

TEST_F(GpuTest, TellsAfterEachPollWhatEachProcessHolds) {
  const unsigned other = static_cast<unsigned>(getppid());
  Show(Using({{Me(), kGiB}, {other, 3 * kGiB}}));
  std::atomic<int> polls{0};
  auto poller = GpuPoller::Start({WF_FAKE_NVML, 5'000'000, "", [&polls] { ++polls; }});
  ASSERT_TRUE(poller.ok()) << poller.status().message();
  (*poller)->AddPid(static_cast<int32_t>(other));
  ASSERT_TRUE(Eventually([&] { return !(*poller)->NowOf(static_cast<int32_t>(other)).empty(); }));
  EXPECT_EQ((*poller)->NowOf(getpid())[0].used_bytes.value, static_cast<int64_t>(kGiB));
  EXPECT_EQ((*poller)->NowOf(static_cast<int32_t>(other))[0].used_bytes.value, static_cast<int64_t>(3 * kGiB));
  EXPECT_EQ((*poller)->Now()[0].used_bytes.value, static_cast<int64_t>(4 * kGiB));
  EXPECT_TRUE((*poller)->NowOf(1'000'000'000).empty());
  EXPECT_TRUE(Eventually([&] { return polls > 1; }));
  poller->reset();
}

TEST_F(GpuTest, AProcessThatUsesNoGpuHasNoFigure) {
  Show(Using({{4, kGiB}}));
  RecordedTree tree;
  tree.File("/proc/self/ns/x", "");
  std::filesystem::create_symlink("pid:[4026531836]", tree.root() + "/proc/self/ns/pid");
  const auto poller = Poller(tree.root());
  ASSERT_NE(poller, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(poller->PeakSince(0).present());
  EXPECT_TRUE(poller->Now().empty());
}

TEST_F(GpuTest, MatchesAWorkerByItsPidInTheOuterNamespace) {
  Show(Using({{5000, kGiB}}));
  RecordedTree tree;
  tree.File("/proc/" + std::to_string(getpid()) + "/status", "Name:\tx\nNSpid:\t5000\t17\n");
  const auto poller = Poller(tree.root());
  ASSERT_NE(poller, nullptr);
  EXPECT_TRUE(Eventually([&] { return poller->PeakSince(0).value == static_cast<int64_t>(kGiB); }));
}

TEST_F(GpuTest, InAContainerTheGrowthOfTheDeviceStandsInAndSaysSo) {
  RecordedTree tree;  // without /proc/self/ns/pid: not the initial namespace, as far as can be told
  FakeNvml state;
  state.device_used = kGiB;
  Show(state);
  const auto poller = Poller(tree.root());
  ASSERT_NE(poller, nullptr);
  state = Using({{4, 2 * kGiB}});
  state.device_used = 3 * kGiB;
  Show(state);
  EXPECT_TRUE(Eventually([&] { return poller->PeakSince(0).value == static_cast<int64_t>(2 * kGiB); }));
  EXPECT_EQ(poller->PeakSince(0).quality, Quality::kEstimated);
}

TEST_F(GpuTest, AForkedChildAnswersAbsentAndCanLetGo) {
  Show(Using({{Me(), kGiB}}));
  auto poller = Poller();
  ASSERT_NE(poller, nullptr);
  EXPECT_TRUE(Eventually([&] { return poller->PeakSince(0).present(); }));
  const pid_t child = fork();
  if (child == 0) {
    const bool absent = !poller->PeakSince(0).present() && poller->Now().empty();
    poller.reset();
    _exit(absent ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace wf::probe
