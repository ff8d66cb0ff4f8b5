#include "profile/stack_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/stacks_for_test.h"

namespace wf::profile {
namespace {

using testing::SizeIs;

StackProfile All(StackRecorder& recorder, int64_t end_ns) {
  recorder.Finish(end_ns);
  StackAssembler assembler;
  EXPECT_TRUE(assembler.Add(recorder.Take(end_ns)).ok());
  return assembler.Finish();
}

TEST(StackRecorderTest, WeightsAreTheTimeThatThreadsLived) {
  StackRecorder recorder({.start_ns = 1'000});
  const uint32_t a = StackOf(recorder.table(), {"main", "work"});
  const uint32_t b = StackOf(recorder.table(), {"main", "rest"});
  const uint32_t first = recorder.AddThread(1, 10, "MainThread", 1'000);
  for (int64_t t = 1'000; t < 2'000; t += 100) {
    recorder.Record(first, {.time_ns = t + t % 7, .clock_ns = t, .stack = t % 300 == 0 ? a : b, .state = kOnCpu});
  }
  const uint32_t second = recorder.AddThread(1, 11, "short", 1'200);
  recorder.Record(second, {.time_ns = 1'200, .clock_ns = 1'200, .stack = b, .state = kIdle});
  recorder.EndThread(second, 1'350);
  const StackProfile profile = All(recorder, 2'000);
  int64_t spans = 0;
  for (const StackSample& sample : profile.samples) spans += sample.span_ns;
  EXPECT_EQ(spans, (2'000 - 1'006) + 150);  // 1000 % 7 is 6: the first reading
  EXPECT_EQ(profile.threads[1].last_ns, 1'350);
}

TEST(StackRecorderTest, EqualReadingsAreOneSampleAlsoAcrossPieces) {
  StackRecorder recorder({});
  const uint32_t stack = StackOf(recorder.table(), {"main"});
  const uint32_t thread = recorder.AddThread(1, 10, "t", 0);
  StackAssembler assembler;
  for (int64_t t = 0; t < 10'000; t += 10) {
    recorder.Record(thread, {.time_ns = t, .clock_ns = t, .stack = stack, .state = kIdle});
    if (t % 1000 == 0) {
      ASSERT_TRUE(assembler.Add(recorder.Take(t + 5)).ok());
    }
  }
  recorder.Finish(10'000);
  ASSERT_TRUE(assembler.Add(recorder.Take(10'000)).ok());
  const StackProfile profile = assembler.Finish();
  ASSERT_THAT(profile.samples, SizeIs(1));
  EXPECT_EQ(profile.samples[0].weight_ns, 10'000);
  EXPECT_EQ(profile.samples[0].count, 1'000U);
  EXPECT_EQ(profile.meta.samples, 1'000U);
}

TEST(StackRecorderTest, CpuModeWeighsWhatTheClockOfTheThreadAdvanced) {
  StackRecorder recorder({.mode = SampleMode::kCpu});
  const uint32_t stack = StackOf(recorder.table(), {"main"});
  const uint32_t thread = recorder.AddThread(1, 10, "t", 0);
  recorder.Record(thread, {.time_ns = 0, .clock_ns = 500, .stack = stack, .state = kOnCpu});
  recorder.Record(thread, {.time_ns = 1'000, .clock_ns = 900, .stack = kEmptyStack, .state = kIdle});
  recorder.Record(thread, {.time_ns = 2'000, .clock_ns = 900, .stack = stack, .state = kOnCpu});
  EXPECT_EQ(All(recorder, 3'000).total_weight_ns(), 400);
}

TEST(StackRecorderTest, GilModeWeighsOnlyTheHolder) {
  StackRecorder recorder({.mode = SampleMode::kGil});
  const uint32_t stack = StackOf(recorder.table(), {"main"});
  const uint32_t thread = recorder.AddThread(1, 10, "t", 0);
  recorder.Record(thread, {.time_ns = 0, .clock_ns = 0, .stack = stack, .state = kOnCpu | kHoldsGil});
  recorder.Record(thread, {.time_ns = 700, .clock_ns = 700, .stack = stack, .state = kOnCpu});
  EXPECT_EQ(All(recorder, 1'000).total_weight_ns(), 700);
}

TEST(StackRecorderTest, AReadingFromThePastIsIgnored) {
  StackRecorder recorder({});
  const uint32_t thread = recorder.AddThread(1, 10, "t", 0);
  recorder.Record(thread, {.time_ns = 100, .clock_ns = 100});
  recorder.Record(thread, {.time_ns = 50, .clock_ns = 50});
  EXPECT_EQ(All(recorder, 200).total_weight_ns(), 100);
}

TEST(StackRecorderTest, TheTablesStopGrowing) {
  StackTable table;
  uint32_t stack = kEmptyStack;
  Frame frame;
  frame.name = table.Intern("f");
  for (size_t i = 0; i < kMaxNodes + 10; ++i) {
    frame.line = static_cast<int32_t>(i % 1'000);
    stack = table.Push(i % 2'000 == 0 ? kEmptyStack : stack, table.AddFrame(frame));
    if (i % 2'000 == 0) stack = table.Push(stack, table.AddFrame({.name = table.Intern(std::to_string(i))}));
  }
  EXPECT_EQ(table.node_count(), kMaxNodes);
  EXPECT_GT(table.not_kept(), 0U);
}

TEST(StackRecorderTest, NumbersThatPointNowhereAreRefused) {
  StackRecorder recorder({});
  const uint32_t stack = StackOf(recorder.table(), {"main"});
  recorder.Record(recorder.AddThread(1, 10, "t", 0), {.time_ns = 0, .clock_ns = 0, .stack = stack});
  recorder.Finish(10);
  const StackDelta good = recorder.Take(10);
  EXPECT_TRUE(StackAssembler().Add(good).ok());
  StackDelta bad = good;
  bad.frames.back().file = 1'000;
  EXPECT_EQ(StackAssembler().Add(bad).code(), Code::kDataLoss);
  bad = good;
  bad.nodes.back().parent = static_cast<uint32_t>(bad.nodes.size());
  EXPECT_EQ(StackAssembler().Add(bad).code(), Code::kDataLoss);
  bad = good;
  bad.samples[0].stack = 99;
  EXPECT_EQ(StackAssembler().Add(bad).code(), Code::kDataLoss);
  bad = good;
  bad.samples[0].thread = 99;
  EXPECT_EQ(StackAssembler().Add(bad).code(), Code::kDataLoss);
}

TEST(StacksTest, MergingKeepsEveryWeightAndBothProcesses) {
  StackProfile a = NastyProfile(1);
  const StackProfile b = NastyProfile(2);
  const int64_t total = a.total_weight_ns() + b.total_weight_ns();
  const size_t threads = a.threads.size() + b.threads.size();
  ASSERT_TRUE(Merge(a, b).ok());
  EXPECT_EQ(a.total_weight_ns(), total);
  EXPECT_THAT(a.threads, SizeIs(threads));
  EXPECT_NE(a.processes.front().id, a.processes.back().id);
}

TEST(StacksTest, RecordingsOfDifferentModesCannotBeAdded) {
  StackProfile a = NastyProfile(1);
  StackProfile b = NastyProfile(2);
  b.meta.mode = SampleMode::kCpu;
  EXPECT_EQ(Merge(a, b).code(), Code::kInvalidArgument);
}

TEST(StackTableTest, TextsBecomeValidAndBounded) {
  StackTable table;
  EXPECT_EQ(table.text(table.Intern("a\xFF\xC0\xAFz")), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(table.text(table.Intern("\xED\xA0\x80")), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  const std::string& cut = table.text(table.Intern(std::string(5'000, 'x')));
  EXPECT_EQ(cut.size(), kMaxTextBytes);
  EXPECT_TRUE(cut.ends_with("x\xE2\x80\xA6"));
  EXPECT_EQ(table.Intern(""), kEmptyText);
}

}  // namespace
}  // namespace wf::profile
