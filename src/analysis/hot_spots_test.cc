#include "analysis/hot_spots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/record_for_test.h"

namespace wf::analysis {
namespace {

using profile::StackProfile;

constexpr int64_t kMs = 1'000'000;

// Frames from the outermost on, as "function file line".
struct At {
  const char* function;
  const char* file;
  int32_t line;
};

uint32_t StackOf(profile::StackTable& table, std::initializer_list<At> frames) {
  uint32_t stack = profile::kEmptyStack;
  for (const At& at : frames) {
    stack = table.Push(stack, table.AddFrame({.kind = profile::FrameKind::kPython,
                                              .name = table.Intern(at.function),
                                              .file = table.Intern(at.file),
                                              .first_line = 1,
                                              .line = at.line}));
  }
  return stack;
}

class HotSpotsTest : public testing::Test {
 protected:
  HotSpotsTest() : builder_(1'000) {
    stacks_.threads.resize(1);
    const uint64_t load = builder_.Node("load");
    const uint64_t work = builder_.Node("work", {load});
    load_ = builder_.Attempt(load, 0, 100).id;
    work_ = builder_.Attempt(work, 100, 1'000).id;
  }
  void Sample(uint64_t attempt, int64_t ms, uint32_t stack, uint8_t state = profile::kOnCpu) {
    stacks_.samples.push_back({.span_ns = ms * kMs,
                               .weight_ns = ms * kMs,
                               .attempt = attempt,
                               .stack = stack,
                               .count = static_cast<uint32_t>(ms / 10),
                               .state = state});
  }
  HotSpots Find() { return FindHotSpots(stacks_, builder_.record(), 10); }

  RecordForTest builder_;
  StackProfile stacks_;
  uint64_t load_ = 0, work_ = 0;
};

TEST_F(HotSpotsTest, EachTaskHasTheLinesOfItsOwnAttempts) {
  profile::StackTable& table = stacks_.table;
  Sample(load_, 100, StackOf(table, {{"load", "/home/ada/p.py", 5}}));
  Sample(work_, 600, StackOf(table, {{"work", "/home/ada/p.py", 9}, {"blur", "/home/ada/p.py", 20}}));
  Sample(work_, 200, StackOf(table, {{"work", "/home/ada/p.py", 9}, {"blur", "/home/ada/p.py", 21}}));
  Sample(0, 500, StackOf(table, {{"elsewhere", "/home/ada/p.py", 30}}));
  const HotSpots hot = Find();
  ASSERT_EQ(hot.tasks.size(), 2U);
  EXPECT_EQ(hot.tasks[0].task, "work");
  EXPECT_EQ(hot.tasks[0].weight_ns, 800 * kMs);
  ASSERT_EQ(hot.tasks[0].spots.size(), 2U);
  EXPECT_EQ(hot.tasks[0].spots[0].function, "blur");
  EXPECT_EQ(hot.tasks[0].spots[0].line, 20);
  EXPECT_EQ(hot.tasks[0].spots[0].samples, 60U);
  EXPECT_DOUBLE_EQ(hot.tasks[0].spots[0].share, 0.75);
  EXPECT_EQ(hot.tasks[1].task, "load");
}

TEST_F(HotSpotsTest, TimeInALibraryGoesToTheLineOfTheProgramThatCalledIt) {
  const char* numpy = "/usr/lib/python3/site-packages/numpy/core.py";
  Sample(work_, 300, StackOf(stacks_.table, {{"work", "/home/ada/p.py", 9}, {"dot", numpy, 1}, {"inner", numpy, 2}}));
  Sample(work_, 100, StackOf(stacks_.table, {{"work", "/home/ada/p.py", 9}}));
  const HotSpots hot = Find();
  ASSERT_EQ(hot.tasks.at(0).spots.size(), 1U);
  EXPECT_EQ(hot.tasks[0].spots[0].function, "work");
  EXPECT_EQ(hot.tasks[0].spots[0].calls, "inner");
}

TEST_F(HotSpotsTest, ATaskWithoutCodeOfItsOwnHasTheLibrarysLine) {
  Sample(work_, 300, StackOf(stacks_.table, {{"dot", "/usr/lib/python3/site-packages/numpy/core.py", 7}}));
  const HotSpots hot = Find();
  EXPECT_EQ(hot.tasks.at(0).spots.at(0).function, "dot");
  EXPECT_EQ(hot.tasks[0].spots[0].calls, "");
}

TEST_F(HotSpotsTest, WaitingWithinAnAttemptCountsAndIsToldApart) {
  const uint32_t stack = StackOf(stacks_.table, {{"load", "/home/ada/p.py", 5}});
  Sample(load_, 300, stack, profile::kIdle);
  Sample(load_, 100, stack);
  const HotSpots hot = Find();
  EXPECT_EQ(hot.tasks.at(0).spots.at(0).weight_ns, 400 * kMs);
  EXPECT_EQ(hot.tasks[0].spots[0].waiting_ns, 300 * kMs);
}

TEST_F(HotSpotsTest, ARecordingHasTheActiveTimeOfAllThreads) {
  profile::RunRecord record = builder_.record();
  record.run.kind = profile::RunKind::kRecording;
  Sample(0, 300, StackOf(stacks_.table, {{"spin", "/home/ada/p.py", 5}}));
  Sample(0, 900, StackOf(stacks_.table, {{"park", "/home/ada/p.py", 6}}), profile::kIdle);
  const HotSpots hot = FindHotSpots(stacks_, record, 10);
  ASSERT_EQ(hot.tasks.size(), 1U);
  EXPECT_EQ(hot.tasks[0].task, "");
  ASSERT_EQ(hot.tasks[0].spots.size(), 1U);
  EXPECT_EQ(hot.tasks[0].spots[0].function, "spin");
}

TEST_F(HotSpotsTest, ARecordingTellsTheTasksThatItMetFromTheRest) {
  profile::RunRecord record = builder_.record();
  record.run.kind = profile::RunKind::kRecording;
  Sample(load_, 300, StackOf(stacks_.table, {{"spin", "/home/ada/p.py", 5}}));
  Sample(load_, 100, StackOf(stacks_.table, {{"park", "/home/ada/p.py", 6}}), profile::kIdle);
  Sample(0, 200, StackOf(stacks_.table, {{"serve", "/home/ada/p.py", 7}}));
  const HotSpots hot = FindHotSpots(stacks_, record, 10);
  ASSERT_EQ(hot.tasks.size(), 2U);
  EXPECT_EQ(hot.tasks[0].task, "load");
  EXPECT_EQ(hot.tasks[0].weight_ns, 400 * kMs);
  EXPECT_EQ(hot.tasks[1].task, "");
  EXPECT_EQ(hot.tasks[1].spots.at(0).function, "serve");
}

TEST_F(HotSpotsTest, WithoutSamplesThereIsNothing) { EXPECT_TRUE(Find().tasks.empty()); }

}  // namespace
}  // namespace wf::analysis
