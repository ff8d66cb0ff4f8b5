// Whole decodings of recorded memory, one recording per version, without a process: right, and unharmed by hostile
// bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "cpython/recorded_memory_testing.h"

namespace wf::cpython {
namespace {

std::string Fixture(const std::string& name) { return std::string(WF_FIXTURES) + "/cpython/" + name; }

std::string Text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Everything but the main thread, which went on after it had printed.
std::string WithoutMain(const std::string& text) {
  const size_t at = text.find("thread MainThread\n");
  if (at == std::string::npos) return text;
  const size_t next = text.find("thread ", at + 1);
  return text.substr(0, at) + (next == std::string::npos ? "" : text.substr(next));
}

class SnapshotTest : public testing::TestWithParam<int> {
 protected:
  RecordedMemory memory_ = RecordedMemory::Load(Fixture("3_" + std::to_string(GetParam()) + ".memory"));
};

TEST_P(SnapshotTest, GivesTheStacksThatTheProgramPrintedOfItself) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  EXPECT_EQ(found.runtime.minor, static_cast<uint32_t>(GetParam()));
  StackReader reader(memory_, found.runtime, {});
  ThreadNames names(memory_, found.runtime.layout);
  Sample sample;
  for (int i = 0; i < 2; ++i) {  // the second from what the first one learnt
    reader.Read(&sample);
    ASSERT_TRUE(sample.alive);
    EXPECT_TRUE(sample.complete);
    names.Refresh(sample, reader.interpreters(), 0);
    EXPECT_EQ(WithoutMain(Describe(sample, names)), Text(Fixture("3_" + std::to_string(GetParam()) + ".stacks")));
    for (const ThreadStack& thread : sample.threads) {
      EXPECT_EQ(thread.reject, Reject::kNone);
      EXPECT_FALSE(thread.holds_gil);  // all of them sleep
      for (const Frame& frame : thread.frames) EXPECT_NE(frame.code, nullptr);
    }
  }
}

TEST_P(SnapshotTest, OftenReadsAreFewBecauseTheNextSampleStartsWithWhatTheLastOneNeeded) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  struct Counting final : MemoryReader {
    explicit Counting(MemoryReader& reader) : from(reader) {}
    void Read(std::span<Segment> segments) override {
      ++calls;
      from.Read(segments);
    }
    MemoryReader& from;
    int calls = 0;
  } counting(memory_);
  StackReader reader(counting, found.runtime, {});
  Sample sample;
  for (int i = 0; i < 3; ++i) reader.Read(&sample);
  counting.calls = 0;
  reader.Read(&sample);
  // One for all; without a code counter (before 3.12) three more to check the code objects, and one for the GIL then.
  EXPECT_LE(counting.calls, GetParam() >= 12 ? 1 : 5);
}

TEST_P(SnapshotTest, LongAndEmptyTextsKeepTheirFrame) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  StackReader reader(memory_, found.runtime, {});
  Sample sample;
  reader.Read(&sample);
  int seen = 0;
  for (const ThreadStack& thread : sample.threads) {
    for (const Frame& frame : thread.frames) {
      if (frame.code->name.substr(0, 3) != "fxx") continue;
      ++seen;
      EXPECT_TRUE(frame.code->name.ends_with("…"));
      EXPECT_EQ(frame.code->filename, "<no filename>");
      EXPECT_EQ(frame.line, 3);
    }
  }
  EXPECT_EQ(seen, 1);
}

TEST_P(SnapshotTest, DeepStacksKeepTheLeafMostFramesAndSaySo) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  StackReader reader(memory_, found.runtime, {.most_frames = 10});
  Sample sample;
  reader.Read(&sample);
  int truncated = 0;
  for (const ThreadStack& thread : sample.threads) {
    EXPECT_LE(thread.frames.size(), 10u);
    if (!thread.truncated) continue;
    ++truncated;
    EXPECT_EQ(thread.frames[0].code->name, "wait");
  }
  EXPECT_EQ(truncated, 1);
}

// Memory in which one stretch cannot be read.
struct WithHole final : MemoryReader {
  WithHole(MemoryReader& reader, uint64_t begin, uint64_t end) : from(reader), hole_begin(begin), hole_end(end) {}
  void Read(std::span<Segment> segments) override {
    from.Read(segments);
    for (Segment& s : segments) s.ok = s.ok && (s.address >= hole_end || s.address + s.bytes <= hole_begin);
  }
  MemoryReader& from;
  uint64_t hole_begin;
  uint64_t hole_end;
};

uint64_t Pointer(MemoryReader& memory, uint64_t address) {
  uint64_t value = 0;
  Segment segment{address, &value, sizeof(value)};
  memory.Read({&segment, 1});
  return segment.ok ? value : 0;
}

TEST_P(SnapshotTest, AThreadThatEndsWhileTheLayoutIsCheckedIsNoWrongLayout) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  const Layout& at = found.runtime.layout;
  const uint64_t interpreter = Pointer(memory_, found.runtime.address + at.runtime.interpreters_head);
  const uint64_t back = Pointer(memory_, interpreter + at.interpreter.threads_head) + at.thread.interpreter;
  struct Flickering final : MemoryReader {
    Flickering(MemoryReader& reader, uint64_t where) : from(reader), address(where) {}
    void Read(std::span<Segment> segments) override {
      from.Read(segments);
      for (const Segment& s : segments) {
        if (left == 0 || !s.ok || s.address != address || s.bytes != 8) continue;
        std::memset(s.into, 0, 8);
        --left;
      }
    }
    MemoryReader& from;
    uint64_t address;
    int left = 3;
  } flickering(memory_, back);
  EXPECT_EQ(FindRuntime(flickering, memory_.modules).outcome, FindOutcome::kFound);
  EXPECT_EQ(flickering.left, 0);
}

TEST_P(SnapshotTest, WithoutTheGilNoStackIsTakenForUnchanged) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  const Runtime& runtime = found.runtime;
  uint64_t gil = runtime.address + runtime.layout.runtime.gil;
  if (runtime.layout.runtime.gil == kAbsent) {
    const uint64_t interpreter = Pointer(memory_, runtime.address + runtime.layout.runtime.interpreters_head);
    gil = Pointer(memory_, interpreter + runtime.layout.interpreter.gil);
  }
  ASSERT_NE(gil, 0u);
  const auto unchanged_in_second_sample = [&](MemoryReader& memory) {
    StackReader reader(memory, runtime, {});
    Sample sample;
    reader.Read(&sample);
    reader.Read(&sample);
    return std::count_if(sample.threads.begin(), sample.threads.end(), [](const auto& t) { return t.unchanged; });
  };
  WithHole hidden(memory_, gil + runtime.layout.gil.switch_number, gil + runtime.layout.gil.switch_number + 8);
  EXPECT_GT(unchanged_in_second_sample(memory_), 0);
  EXPECT_EQ(unchanged_in_second_sample(hidden), 0);
}

TEST_P(SnapshotTest, AFrameThatIsBadForAMomentOnlyIsReadAgain) {
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  const Runtime& runtime = found.runtime;
  uint64_t gil = runtime.address + runtime.layout.runtime.gil;
  if (runtime.layout.runtime.gil == kAbsent) {
    const uint64_t interpreter = Pointer(memory_, runtime.address + runtime.layout.runtime.interpreters_head);
    gil = Pointer(memory_, interpreter + runtime.layout.interpreter.gil);
  }
  const uint64_t holder = Pointer(memory_, gil + runtime.layout.gil.last_holder);
  uint64_t current_frame = holder + runtime.layout.thread.frame;
  if (runtime.layout.thread.frame == kAbsent) {  // 3.11 and 3.12 have a struct between
    current_frame = Pointer(memory_, holder + runtime.layout.thread.cframe) + runtime.layout.cframe.current_frame;
  }
  struct Bad final : MemoryReader {
    Bad(MemoryReader& reader, uint64_t where) : from(reader), address(where) {}
    void Read(std::span<Segment> segments) override {
      from.Read(segments);
      for (const Segment& s : segments) {
        if (left == 0 || !s.ok || address < s.address || address + 8 > s.address + s.bytes) continue;
        const uint64_t nowhere = 0x123;
        std::memcpy(static_cast<std::byte*>(s.into) + (address - s.address), &nowhere, sizeof(nowhere));
        --left;
      }
    }
    MemoryReader& from;
    uint64_t address;
    int left = 3;
  } bad(memory_, current_frame);
  StackReader reader(bad, runtime, {});
  const Sample& sample = reader.Read();
  EXPECT_EQ(bad.left, 0);
  for (const ThreadStack& thread : sample.threads) EXPECT_EQ(thread.reject, Reject::kNone);
}

void ReadAll(RecordedMemory& memory) {
  const auto found = FindRuntime(memory, memory.modules);
  if (found.outcome != FindOutcome::kFound) return;
  StackReader reader(memory, found.runtime, {.most_frames = 200, .attempts = 3});
  ThreadNames names(memory, found.runtime.layout);
  Sample sample;
  for (int i = 0; i < 12; ++i) {  // the later ones from what is known, without the lists of threads
    reader.Read(&sample);
    names.Refresh(sample, reader.interpreters(), i * int64_t{200'000'000});
    Describe(sample, names);
  }
}

TEST_P(SnapshotTest, HostileMemoryHarmsNobody) {
  const RecordedMemory pristine = memory_;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    RecordedMemory memory = pristine;
    std::vector<std::vector<std::byte>*> pieces;
    for (auto& [address, bytes] : memory.pieces) pieces.push_back(&bytes);
    const uint32_t flips = 1u << random() % 12;
    for (uint32_t i = 0; i < flips; ++i) {
      auto& bytes = *pieces[random() % pieces.size()];
      const size_t at = random() % bytes.size();
      // Bits, extremes, and other pointers of the same memory: rings and wrong types.
      if (random() % 3 == 0) {
        bytes[at] ^= static_cast<std::byte>(1u << random() % 8);
      } else if (random() % 2 == 0) {
        bytes[at] = static_cast<std::byte>(random() % 2 == 0 ? 0xFF : 0x00);
      } else if (bytes.size() >= 16) {
        const auto& from = *pieces[random() % pieces.size()];
        if (from.size() >= 8) std::memcpy(&bytes[(at & ~size_t{7}) % (bytes.size() - 8)], from.data(), 8);
      }
    }
    ReadAll(memory);
    ASSERT_LT(memory.reads, 2'000'000u) << "seed " << seed;
  }
}

TEST_P(SnapshotTest, MemoryThatChangesWithEachReadHarmsNobody) {
  struct Shifting final : MemoryReader {
    explicit Shifting(MemoryReader& reader) : from(reader) {}
    void Read(std::span<Segment> segments) override {
      from.Read(segments);
      for (const Segment& s : segments) {
        if (!s.ok || s.bytes == 0 || random() % 8 != 0) continue;
        static_cast<std::byte*>(s.into)[random() % s.bytes] ^= static_cast<std::byte>(1u << random() % 8);
      }
    }
    MemoryReader& from;
    std::mt19937 random{1};
  } shifting(memory_);
  const auto found = FindRuntime(memory_, memory_.modules);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  StackReader reader(shifting, found.runtime, {.most_frames = 200, .attempts = 3});
  ThreadNames names(shifting, found.runtime.layout);
  Sample sample;
  for (int i = 0; i < 300; ++i) {
    reader.Read(&sample);
    names.Refresh(sample, reader.interpreters(), i * int64_t{2'000'000'000});
    Describe(sample, names);
  }
}

INSTANTIATE_TEST_SUITE_P(CPython, SnapshotTest, testing::Range(8, 16),
                         [](const auto& minor) { return "3_" + std::to_string(minor.param); });

}  // namespace
}  // namespace wf::cpython
