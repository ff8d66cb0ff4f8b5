#include "sampler/snapshot_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace wf::sampler {
namespace {

constexpr int64_t kMs = 1'000'000;

Snapshot Of(std::initializer_list<uint64_t> threads, bool complete) {
  Snapshot snapshot;
  snapshot.complete = complete;
  for (const uint64_t id : threads) {
    ThreadSample& thread = snapshot.threads.emplace_back();
    thread.tid = static_cast<int32_t>(id);
    thread.stack.state_id = id;
    thread.active = true;
  }
  return snapshot;
}

profile::StackProfile Recorded(std::initializer_list<Snapshot> rounds) {
  profile::StackRecorder recorder({.rate_hz = 100, .idle_included = true});
  SnapshotRecorder writer(recorder, 1);
  int64_t time_ns = 0;
  for (const Snapshot& round : rounds) {
    writer.Record(round, time_ns);
    time_ns += 10 * kMs;
  }
  recorder.Finish(time_ns);
  profile::StackAssembler assembler;
  EXPECT_TRUE(assembler.Add(recorder.Take(time_ns)).ok());
  return assembler.Finish();
}

TEST(SnapshotRecorderTest, AThreadThatIsGoneFromACompleteSnapshotHasEnded) {
  const auto profile = Recorded({Of({1, 2}, true), Of({1}, true), Of({1, 2}, true)});
  EXPECT_THAT(profile.threads, testing::SizeIs(3));
  EXPECT_EQ(profile.total_weight_ns(), (30 + 10 + 10) * kMs);
}

TEST(SnapshotRecorderTest, AThreadThatIsMissingFromACutListLivesOnAndTheCutIsCounted) {
  const auto profile = Recorded({Of({1, 2}, true), Of({1}, false), Of({1, 2}, true)});
  EXPECT_THAT(profile.threads, testing::SizeIs(2));
  EXPECT_EQ(profile.total_weight_ns(), (30 + 30) * kMs);
  EXPECT_THAT(profile.meta.rejected, testing::ElementsAre(testing::Pair("list of threads cut short", 1)));
}

}  // namespace
}  // namespace wf::sampler
