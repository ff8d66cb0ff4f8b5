// Where the garbage collector runs: 3.15 says on which frame. The recorded memory of a process, changed at that place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cpython/recorded_memory_testing.h"

namespace wf::cpython {
namespace {

class CollectorMarksTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = FindRuntime(memory_, memory_.modules);
    ASSERT_EQ(found.outcome, FindOutcome::kFound);
    runtime_ = found.runtime;
    const Layout& at = runtime_.layout;
    const uint64_t interpreter = Word(runtime_.address + at.runtime.interpreters_head);
    field_ = interpreter + at.interpreter.collecting_frame;
    gil_ = Word(interpreter + at.interpreter.gil);
    holder_ = Word(gil_ + at.gil.last_holder);
  }

  uint64_t Word(uint64_t address) { return memory_.Get<uint64_t>(address).value_or(0); }
  void Put(uint64_t address, uint64_t value) {
    auto& [begin, bytes] = *std::prev(memory_.pieces.upper_bound(address));
    ASSERT_LE(address + sizeof(value), begin + bytes.size());
    std::memcpy(bytes.data() + (address - begin), &value, sizeof(value));
  }
  // Another thread held the GIL meanwhile.
  void Switch() { Put(gil_ + runtime_.layout.gil.switch_number, Word(gil_ + runtime_.layout.gil.switch_number) + 1); }

  static size_t MarksIn(const Sample& sample) {
    size_t marks = 0;
    for (const ThreadStack& thread : sample.threads) {
      for (const Frame& frame : thread.frames) marks += frame.code != nullptr && frame.code->is_marker ? 1 : 0;
    }
    return marks;
  }
  // A thread with some frames that holds the GIL, or one that does not.
  size_t IndexOf(const Sample& sample, bool holder) const {
    for (size_t i = 0; i < sample.threads.size(); ++i) {
      if (sample.threads[i].frames.size() > 1 && (sample.threads[i].thread == holder_) == holder) return i;
    }
    ADD_FAILURE();
    return 0;
  }

  RecordedMemory memory_ = RecordedMemory::Load(std::string(WF_FIXTURES) + "/cpython/3_15.memory");
  Runtime runtime_;
  uint64_t field_ = 0;  // where the interpreter names the frame
  uint64_t gil_ = 0;
  uint64_t holder_ = 0;
};

TEST_F(CollectorMarksTest, TheInterpretersTableOfOffsetsHasTheFieldWhereTheHeadersHaveIt) {
  EXPECT_EQ(runtime_.layout.interpreter.collecting_frame, kLayout3_15.interpreter.collecting_frame);
  EXPECT_EQ(kLayout3_14.interpreter.collecting_frame, kAbsent);
}

TEST_F(CollectorMarksTest, AMarkStandsBeforeTheFrameOnWhichTheCollectorRuns) {
  StackReader reader(memory_, runtime_, {});
  Sample sample = reader.Read();
  EXPECT_EQ(MarksIn(sample), 0u);
  for (const bool holder : {true, false}) {
    const size_t index = IndexOf(sample, holder);
    const std::vector<Frame> without = sample.threads[index].frames;
    for (const size_t depth : {size_t{0}, without.size() - 1}) {
      Put(field_, without[depth].address);
      Sample marked;
      StackReader(memory_, runtime_, {}).Read(&marked);
      EXPECT_EQ(MarksIn(marked), 1u);
      const ThreadStack& thread = marked.threads[index];
      EXPECT_EQ(thread.reject, Reject::kNone);
      ASSERT_EQ(thread.frames.size(), without.size() + 1);
      EXPECT_EQ(thread.frames[depth].code->name, "<GC>");
      EXPECT_TRUE(thread.frames[depth].code->is_marker);
      EXPECT_EQ(thread.frames[depth].address, 0u);
      EXPECT_EQ(thread.frames[depth + 1].address, without[depth].address);
    }
  }
}

TEST_F(CollectorMarksTest, AStackThatIsTakenForUnchangedKeepsItsMarkAndOneThatRanHasTheNewOne) {
  StackReader reader(memory_, runtime_, {});
  const size_t index = IndexOf(reader.Read(), /*holder=*/false);
  Sample sample = reader.Read();
  EXPECT_TRUE(sample.threads[index].unchanged);
  Put(field_, sample.threads[index].frames[0].address);
  Switch();
  for (const bool unchanged : {false, true, true}) {
    sample = reader.Read();
    EXPECT_EQ(sample.threads[index].unchanged, unchanged);
    EXPECT_EQ(sample.threads[index].frames[0].code->name, "<GC>");
  }
  Put(field_, 0);
  Switch();
  for (const bool unchanged : {false, true}) {
    sample = reader.Read();
    EXPECT_EQ(sample.threads[index].unchanged, unchanged);
    EXPECT_EQ(MarksIn(sample), 0u);
  }
}

TEST_F(CollectorMarksTest, TheMarkOfTheGilsHolderComesAndGoesWithoutASwitch) {
  StackReader reader(memory_, runtime_, {});
  const size_t index = IndexOf(reader.Read(), /*holder=*/true);
  const uint64_t frame = reader.Read().threads[index].frames[0].address;
  for (int round = 0; round < 20; ++round) {
    Put(field_, round % 2 == 0 ? frame : 0);
    EXPECT_EQ(MarksIn(reader.Read()), round % 2 == 0 ? 1u : 0u);
  }
}

// The first reads of the place give `first`, those after them what lies there.
struct Changing final : MemoryReader {
  Changing(MemoryReader& reader, uint64_t where) : from(reader), address(where) {}
  void Read(std::span<Segment> segments) override {
    from.Read(segments);
    for (const Segment& s : segments) {
      if (left == 0 || !s.ok || address < s.address || address + 8 > s.address + s.bytes) continue;
      std::memcpy(static_cast<std::byte*>(s.into) + (address - s.address), &first, sizeof(first));
      --left;
    }
  }
  MemoryReader& from;
  uint64_t address;
  uint64_t first = 0;
  int left = 0;
};

TEST_F(CollectorMarksTest, ACollectionThatEndsOrBeginsWhileTheStackIsReadIsReadAgain) {
  for (const bool holder : {true, false}) {
    for (const bool begins : {true, false}) {
      Put(field_, 0);
      Changing changing(memory_, field_);
      StackReader reader(changing, runtime_, {});
      for (int i = 0; i < 3; ++i) reader.Read();
      const size_t index = IndexOf(reader.Read(), holder);
      const uint64_t frame = reader.Read().threads[index].frames[0].address;
      Put(field_, begins ? frame : 0);
      changing.first = begins ? 0 : frame;
      changing.left = 1;
      Switch();
      const Sample& sample = reader.Read();
      EXPECT_EQ(changing.left, 0);
      EXPECT_EQ(sample.threads[index].reject, Reject::kNone);
      EXPECT_EQ(MarksIn(sample), begins ? 1u : 0u) << holder;
    }
  }
}

TEST_F(CollectorMarksTest, AFrameThatIsOfNoStackIsNotMarked) {
  StackReader reader(memory_, runtime_, {});
  for (const uint64_t frame : {uint64_t{1}, uint64_t{0x123450}, ~uint64_t{0}, holder_}) {
    Put(field_, frame);
    Switch();
    const Sample& sample = reader.Read();
    EXPECT_EQ(MarksIn(sample), 0u);
    for (const ThreadStack& thread : sample.threads) EXPECT_EQ(thread.reject, Reject::kNone);
  }
}

TEST_F(CollectorMarksTest, ADeepStackHasNoMoreFramesThanAskedForWithItsMark) {
  StackReader reader(memory_, runtime_, {});
  const Sample& sample = reader.Read();
  const size_t index = IndexOf(sample, /*holder=*/false);
  ASSERT_GT(sample.threads[index].frames.size(), 3u);
  Put(field_, sample.threads[index].frames[2].address);
  for (const size_t most : {1, 2, 3, 4}) {
    Sample cut;
    StackReader(memory_, runtime_, {.most_frames = most}).Read(&cut);
    const ThreadStack& thread = cut.threads[index];
    EXPECT_TRUE(thread.truncated);
    // The mark is of no use without its frame.
    EXPECT_EQ(thread.frames.size(), most == 3 ? 2u : most);
    EXPECT_EQ(MarksIn(cut), most == 4 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace wf::cpython
