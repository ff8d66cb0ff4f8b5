#include "sampler/snapshot_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// One thread, its functions from the root, "a1" being line 1 of function a; `version` as ThreadStack has it.
Snapshot Stack(std::initializer_list<std::string_view> frames, uint64_t version) {
  static std::map<char, std::shared_ptr<cpython::Code>> codes;
  Snapshot snapshot = Of({1}, true);
  snapshot.list_version = 1;
  cpython::ThreadStack& stack = snapshot.threads[0].stack;
  stack.version = version;
  for (const std::string_view text : frames) {
    auto& code = codes[text[0]];
    if (code == nullptr) code = std::make_shared<cpython::Code>();
    code->id = static_cast<unsigned char>(text[0]);
    code->name = text[0];
    stack.frames.insert(stack.frames.begin(), {code, text[1] - '0', 0});
  }
  return snapshot;
}

std::vector<std::string> Shown(const profile::StackProfile& profile) {
  std::vector<std::string> shown;
  for (const profile::StackSample& sample : profile.samples) {
    std::string text;
    for (uint32_t at = sample.stack; at != profile::kEmptyStack; at = profile.table.node(at).parent) {
      const profile::Frame& frame = profile.table.frame(profile.table.node(at).frame);
      text.insert(0, std::to_string(frame.line));
      text.insert(0, profile.table.text(frame.name));
    }
    shown.push_back(std::move(text));
  }
  return shown;
}

TEST(SnapshotRecorderTest, AStackThatChangedAnywhereIsRecordedAsItIs) {
  EXPECT_THAT(Shown(Recorded({Stack({"a1", "b1", "c1"}, 1), Stack({"a1", "b1", "c2"}, 2), Stack({"a1", "b1"}, 3),
                              Stack({"a1", "b1", "c2"}, 4), Stack({"a2", "b1", "c2"}, 5), Stack({}, 6),
                              Stack({"b1", "a1"}, 7)})),
              testing::ElementsAre("a1b1c1", "a1b1c2", "a1b1", "a1b1c2", "a2b1c2", "", "b1a1"));
}

TEST(SnapshotRecorderTest, MarkersOfOneReadingAreNotThoseOfTheNext) {
  Snapshot torn = Stack({"a1", "b1"}, 2);
  torn.threads[0].stack.reject = cpython::Reject::kTorn;
  Snapshot cut = Stack({"a1", "b1"}, 3);
  cut.threads[0].stack.truncated = true;
  const auto profile = Recorded({Stack({"a1", "b1"}, 1), torn, cut, Stack({"a1", "b1"}, 4)});
  EXPECT_THAT(Shown(profile), testing::ElementsAre("a1b1", "a1b1<torn>0", "<truncated>0a1b1", "a1b1"));
}

}  // namespace
}  // namespace wf::sampler
