#include "profile/recorded_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "profile/export.h"
#include "profile/stacks_for_test.h"

namespace wf::profile {
namespace {

using testing::SizeIs;

// Threads that start, run two stacks in turn and end, one after the other in pieces.
void RunThreads(int threads, RecordedSamples* samples, StackRecorder* recorder) {
  const uint32_t a = StackOf(recorder->table(), {"main", "work"});
  const uint32_t b = StackOf(recorder->table(), {"main", "rest"});
  for (int i = 0; i < threads; ++i) {
    const int64_t start = i * 100;
    const uint32_t thread = recorder->AddThread(1, 10 + i, "Thread-" + std::to_string(i), start);
    for (int64_t t = start; t < start + 100; t += 10) {
      recorder->Record(thread, {.time_ns = t, .clock_ns = t, .stack = t % 20 == 0 ? a : b, .state = kOnCpu});
    }
    if (i % 3 == 0) samples->Add(recorder->Take(start + 95));
    recorder->EndThread(thread, start + 100);
  }
  recorder->Finish(threads * 100);
  samples->Add(recorder->Take(threads * 100));
}

std::string Collapsed(const StackProfile& profile) {
  std::ostringstream out;
  WriteCollapsed(profile, {}, out);
  return out.str();
}

TEST(RecordedSamplesTest, SumsDoNotGrowWithTimeOrThreadsAndWeighTheSame) {
  RecordedSamples sums({.by_time = false, .by_thread = false});
  RecordedSamples each({.by_time = true, .by_thread = true});
  StackRecorder first({.rate_hz = 1e8}), second({.rate_hz = 1e8});
  RunThreads(1'000, &sums, &first);
  RunThreads(1'000, &each, &second);
  EXPECT_EQ(sums.samples(), 2U);
  EXPECT_EQ(sums.threads(), 1U);
  EXPECT_EQ(each.threads(), 1'000U);
  StackProfile summed = sums.Profile(first.table());
  StackProfile whole = each.Profile(second.table());
  summed.meta = first.meta();
  whole.meta = second.meta();
  EXPECT_EQ(summed.total_weight_ns(), 100'000);
  EXPECT_EQ(whole.total_weight_ns(), 100'000);
  EXPECT_EQ(Collapsed(summed), Collapsed(whole));
}

TEST(RecordedSamplesTest, ThreadsAreToldApartWhereThatIsWanted) {
  RecordedSamples sums({.by_time = false, .by_thread = true});
  StackRecorder recorder({});
  RunThreads(5, &sums, &recorder);
  const StackProfile profile = sums.Profile(recorder.table());
  ASSERT_THAT(profile.threads, SizeIs(5));
  EXPECT_EQ(profile.threads[3].name, "Thread-3");
  EXPECT_THAT(profile.samples, SizeIs(10));
}

TEST(RecordedSamplesTest, AParkedThreadIsOneSampleHoweverManyPiecesCome) {
  RecordedSamples each({});
  StackRecorder recorder({});
  const uint32_t stack = StackOf(recorder.table(), {"main"});
  const uint32_t thread = recorder.AddThread(1, 10, "t", 0);
  for (int64_t t = 0; t < 10'000; t += 10) {
    recorder.Record(thread, {.time_ns = t, .clock_ns = t, .stack = stack, .state = kIdle});
    if (t % 100 == 0) each.Add(recorder.Take(t + 5));
  }
  EXPECT_EQ(each.samples(), 1U);
}

TEST(RecordedSamplesTest, WhatWasShownInBetweenGoesOn) {
  RecordedSamples sums({.by_time = false, .by_thread = false});
  StackRecorder recorder({});
  const uint32_t stack = StackOf(recorder.table(), {"main"});
  const uint32_t thread = recorder.AddThread(1, 10, "t", 0);
  recorder.Record(thread, {.time_ns = 0, .clock_ns = 0, .stack = stack, .state = kOnCpu});
  sums.Add(recorder.Take(50));
  EXPECT_EQ(sums.Profile(recorder.table()).total_weight_ns(), 50);
  recorder.EndThread(thread, 80);
  sums.Add(recorder.Take(90));
  EXPECT_EQ(sums.Profile(recorder.table()).total_weight_ns(), 80);
}

TEST(RecordedSamplesTest, ASumThatIsFullIsFollowedByAnother) {
  RecordedSamples sums({.by_time = false, .by_thread = false});
  StackDelta piece;
  piece.threads.push_back({0, {1, 10, "t", 0, 10}});
  StackSample sample;
  sample.span_ns = sample.weight_ns = 10;
  sample.count = UINT32_MAX - 1;
  piece.samples = {sample, sample};
  sums.Add(piece);
  EXPECT_EQ(sums.samples(), 2U);
}

}  // namespace
}  // namespace wf::profile
