// The small decoders, on memory made by hand.
#include <gtest/gtest.h>

#include "cpython/debug_offsets.h"
#include "cpython/elf_image.h"
#include "cpython/mirror.h"
#include "cpython/recorded_memory_testing.h"
#include "cpython/stack.h"
#include "cpython/stack_reader.h"
#include "cpython/unicode.h"
#include "cpython/value_text.h"

namespace wf::cpython {
namespace {

void Put(RecordedMemory& memory, uint64_t address, const std::string& bytes) {
  auto& piece = memory.pieces[address];
  piece.resize(bytes.size());
  std::memcpy(piece.data(), bytes.data(), bytes.size());
}

template <typename T>
void Store(std::string* object, size_t offset, T value) {
  std::memcpy(object->data() + offset, &value, sizeof(value));
}

std::string Unicode(uint64_t length, uint32_t state, const std::string& text, size_t data) {
  std::string object(data, '\0');
  Store(&object, 16, length);
  Store(&object, 32, state);
  return object + text;
}

constexpr uint32_t kCompact = 1 << 5;
constexpr uint32_t kAscii = 1 << 6;

TEST(UnicodeTest, EachKindBecomesUtf8AndLongTextsAreShortened) {
  RecordedMemory memory;
  Put(memory, 0x10000, Unicode(5, kCompact | kAscii | 1 << 2, "hello", 40));
  Put(memory, 0x20000, Unicode(1, kCompact | 1 << 2, "\xE9", 56));
  Put(memory, 0x30000, Unicode(2, kCompact | 2 << 2, std::string("\x2D\x4E\x00\xD8", 4), 56));  // 中 and a surrogate
  Put(memory, 0x40000, Unicode(1, kCompact | 4 << 2, std::string("\x0D\xF4\x01\x00", 4), 56));
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x10000, 100), "hello");
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x10000, 3), "hel…");
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x20000, 100), "é");
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x30000, 100), "中\uFFFD");
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x40000, 100), "🐍");
}

TEST(UnicodeTest, TheTextOfASubclassOfStrLiesElsewhere) {
  RecordedMemory memory;
  std::string object = Unicode(5, kAscii | 1 << 2, std::string(24, '\0'), 40);
  Store<uint64_t>(&object, kLayout3_13.unicode.any_data, 0x20010);
  Put(memory, 0x10000, object);
  Put(memory, 0x20000, std::string(16, ' ') + "hello");
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x10000, 100), "hello");
  Store<uint64_t>(&object, kLayout3_13.unicode.any_data, 0x50000);
  Put(memory, 0x10000, object);
  EXPECT_EQ(ReadString(memory, kLayout3_13, 0x10000, 100), std::nullopt);
}

TEST(UnicodeTest, WhatIsNoStringIsRefused) {
  RecordedMemory memory;
  Put(memory, 0x10000, Unicode(5, kAscii | 1 << 2, "hello", 40));               // not compact, without a text
  Put(memory, 0x20000, Unicode(5, kCompact | 3 << 2, "hello", 56));             // no such kind
  Put(memory, 0x30000, Unicode(~uint64_t{0}, kCompact | 1 << 2, "hello", 56));  // no such length
  Put(memory, 0x40000, Unicode(50, kCompact | kAscii | 1 << 2, "hello", 40));   // ends in what cannot be read
  for (const uint64_t address : {0x10000, 0x20000, 0x30000, 0x40000, 0x50000}) {
    EXPECT_EQ(ReadString(memory, kLayout3_13, address, 100), std::nullopt) << address;
  }
}

TEST(DebugOffsetsTest, ATableWithoutCookieOrWithImpossibleOffsetsIsNotBelieved) {
  std::vector<std::byte> table(kDebugOffsetsBytes);
  EXPECT_FALSE(ReadDebugHeader(table).present);
  std::memcpy(table.data(), "xdebugpy", 8);
  EXPECT_TRUE(ReadDebugHeader(table).present);
  std::memset(table.data() + 24, 0xFF, table.size() - 24);
  for (const Layout* layout : {&kLayout3_13, &kLayout3_14, &kLayout3_15}) {
    Layout copy = *layout;
    EXPECT_FALSE(ApplyDebugOffsets(table, &copy));
  }
}

TEST(MirrorTest, TheNextPlanIsWhatThisDecodingUsed) {
  RecordedMemory memory;
  Put(memory, 0x10000, std::string(4096, 'a'));
  Put(memory, 0x20000, std::string(512, 'b'));
  Mirror mirror;
  std::vector<Segment> batch;
  mirror.Plan(&batch);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(mirror.Find(memory, 0x10100, 8).size(), 8u);
  EXPECT_EQ(mirror.Find(memory, 0x10500, 600).size(), 600u);
  EXPECT_EQ(mirror.Find(memory, 0x20000, 8).size(), 8u);
  EXPECT_TRUE(mirror.Find(memory, 0x30000, 8).empty());
  mirror.Plan(&batch);
  ASSERT_EQ(batch.size(), 3u);  // 0x10000, 0x10400 to 0x10800, 0x20000
  EXPECT_EQ(batch[1].address, 0x10400u);
  EXPECT_EQ(batch[1].bytes, 0x400u);
  memory.Read(batch);
  mirror.Accept(batch);
  const uint64_t reads = memory.reads;
  EXPECT_EQ(mirror.Find(memory, 0x10500, 600).size(), 600u);
  EXPECT_EQ(memory.reads, reads);
}

TEST(MirrorTest, APieceThatIsNotUsedAnyMoreIsDroppedAfterAWhile) {
  RecordedMemory memory;
  Put(memory, 0x10000, std::string(512, 'a'));
  Put(memory, 0x20000, std::string(512, 'b'));
  Mirror mirror;
  mirror.Find(memory, 0x10000, 8);
  mirror.Find(memory, 0x20000, 8);
  size_t planned = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<Segment> batch;
    mirror.Plan(&batch);
    memory.Read(batch);
    mirror.Accept(batch);
    mirror.Find(memory, 0x10000, 8);
    planned += batch.size();
    EXPECT_GE(batch.size(), i < 10 ? 2u : 1u);
  }
  EXPECT_LT(planned, 150u);
}

TEST(MirrorTest, AddressesThatCannotBeAreNotAsked) {
  RecordedMemory memory;
  Mirror mirror;
  for (const uint64_t address : {uint64_t{0}, uint64_t{100}, ~uint64_t{0}, uint64_t{1} << 47}) {
    EXPECT_TRUE(mirror.Find(memory, address, 8).empty());
  }
  EXPECT_EQ(memory.reads, 0u);
}

RawStack Stack(std::initializer_list<RawFrame> frames) {
  RawStack stack;
  stack.frames = frames;
  return stack;
}

TEST(StackTest, CopiesAgreeWhenOnlyTheLeafMovedOnInItsOwnCode) {
  const RawStack first = Stack({{0x100, 0xA, 5, 0}, {0x80, 0xB, 7, 0}});
  EXPECT_TRUE(Agree(first, Stack({{0x100, 0xA, 6, 0}, {0x80, 0xB, 7, 0}})));
  EXPECT_FALSE(Agree(first, Stack({{0x100, 0xC, 5, 0}, {0x80, 0xB, 7, 0}})));  // same address, other code
  EXPECT_FALSE(Agree(first, Stack({{0x100, 0xA, 5, 0}, {0x80, 0xB, 8, 0}})));  // called again from elsewhere
  EXPECT_FALSE(Agree(first, Stack({{0x80, 0xB, 7, 0}})));
}

TEST(StackTest, TheCommonRootIsWhatBothCopiesHold) {
  const RawStack first = Stack({{0x200, 0xD, 1, 0}, {0x100, 0xA, 5, 0}, {0x80, 0xB, 7, 0}});
  const RawStack second = Stack({{0x100, 0xA, 6, 0}, {0x80, 0xB, 7, 0}});
  const RawStack common = CommonRoot(first, second);
  EXPECT_EQ(common.frames, second.frames);
  RawStack broken = second;
  broken.broken = Reject::kUnreadable;
  EXPECT_TRUE(CommonRoot(first, broken).frames.empty());
}

TEST(StackTest, TheCommonRootOfTruncatedCopiesBeginsAtTheRootMostFrameThatBothHave) {
  // The leaf-most four frames, before and after one more call.
  RawStack first = Stack({{0x400, 0xD, 1, 0}, {0x300, 0xC, 1, 0}, {0x200, 0xB, 1, 0}, {0x100, 0xA, 1, 0}});
  RawStack second = Stack({{0x500, 0xE, 1, 0}, {0x400, 0xD, 2, 0}, {0x300, 0xC, 1, 0}, {0x200, 0xB, 1, 0}});
  first.truncated = second.truncated = true;
  const std::vector<RawFrame> both = {{0x400, 0xD, 2, 0}, {0x300, 0xC, 1, 0}, {0x200, 0xB, 1, 0}};
  const RawStack grown = CommonRoot(first, second);
  EXPECT_EQ(grown.frames, both);
  EXPECT_TRUE(grown.truncated);
  const RawStack shrunk = CommonRoot(second, first);
  EXPECT_EQ(shrunk.frames, (std::vector<RawFrame>{{0x400, 0xD, 1, 0}, {0x300, 0xC, 1, 0}, {0x200, 0xB, 1, 0}}));
  RawStack other = Stack({{0x900, 0xA, 1, 0}});
  other.truncated = true;
  EXPECT_TRUE(CommonRoot(first, other).frames.empty());
}

TEST(StackTest, ARingOfFramesIsBadAndNotDeep) {
  RecordedMemory memory;
  const Layout& layout = kLayout3_13;
  constexpr uint64_t kThread = 0x10000, kFrame = 0x20000;
  std::string thread(512, '\0');
  Store<uint64_t>(&thread, layout.thread.frame, kFrame);
  Put(memory, kThread, thread);
  for (uint64_t i = 0; i < 50; ++i) {
    std::string frame(512, '\0');
    Store<uint64_t>(&frame, layout.frame.code, 0x30000);
    Store<uint64_t>(&frame, layout.frame.previous, kFrame + (i == 49 ? 10 : i + 1) * 0x1000);
    Put(memory, kFrame + i * 0x1000, frame);
  }
  Mirror mirror;
  RawStack stack;
  WalkStack(memory, mirror, layout, kThread, 1000, 0, &stack);
  EXPECT_EQ(stack.broken, Reject::kBadFrame);
  EXPECT_FALSE(stack.truncated);
  EXPECT_TRUE(stack.frames.empty());
}

std::string FrameOf(const Layout& layout, uint64_t previous, uint8_t owner) {
  std::string frame(512, '\0');
  Store<uint64_t>(&frame, layout.frame.code, 0x30000);
  Store<uint64_t>(&frame, layout.frame.previous, previous);
  Store<uint8_t>(&frame, layout.frame.owner, owner);
  return frame;
}

// A program that is preempted in that moment looks like that for as long as it waits for its turn.
TEST(StackTest, AGeneratorThatIsJustBeingUnlinkedFromItsCallerIsNoWholeStack) {
  constexpr uint64_t kThread = 0x10000, kFrame = 0x20000, kShim = 0x21000;
  for (const Layout* layout : {&kLayout3_11, &kLayout3_12, &kLayout3_13, &kLayout3_14, &kLayout3_15}) {
    for (const bool linked : {true, false}) {
      RecordedMemory memory;
      std::string thread(512, '\0');
      const bool direct = layout->thread.frame != kAbsent;
      Store<uint64_t>(&thread, direct ? layout->thread.frame : layout->thread.cframe, direct ? kFrame : 0x40000);
      Put(memory, kThread, thread);
      std::string cframe(512, '\0');
      if (!direct) {
        Store<uint64_t>(&cframe, layout->cframe.current_frame, kFrame);
        Put(memory, 0x40000, cframe);
      }
      Put(memory, kFrame, FrameOf(*layout, linked ? kShim : 0, 1));
      Put(memory, kShim, FrameOf(*layout, 0, 3));
      Mirror mirror;
      RawStack stack;
      WalkStack(memory, mirror, *layout, kThread, 1000, 0, &stack);
      const bool whole = linked || layout->minor == 11;  // 3.11 has no shims
      EXPECT_EQ(stack.broken, whole ? Reject::kNone : Reject::kTorn) << layout->minor;
      EXPECT_EQ(stack.frames.empty(), !whole) << layout->minor;
    }
  }
}

// While greenlets are switched, the shims that lie on the C stack are left out of the chains of both.
TEST(StackTest, OfAGreenletThatIsJustBeingSwitchedTheChainWithoutShimsIsWhole) {
  constexpr uint64_t kThread = 0x10000, kLeaf = 0x20000, kShim = 0x21000, kRoot = 0x22000;
  for (const Layout* layout : {&kLayout3_13, &kLayout3_14, &kLayout3_15}) {
    const auto walk = [&](uint64_t below_leaf, uint8_t owner_of_root) {
      RecordedMemory memory;
      const auto put = [&](uint64_t address, uint64_t previous, uint8_t owner) {
        Put(memory, address, FrameOf(*layout, previous, owner));
      };
      std::string thread(1024, '\0');
      Store<uint64_t>(&thread, layout->thread.frame, kLeaf);
      Put(memory, kThread, thread);
      put(kLeaf, below_leaf, 0);
      put(kShim, kRoot, 3);
      put(kRoot, 0, owner_of_root);
      Mirror mirror;
      RawStack stack;
      WalkStack(memory, mirror, *layout, kThread, 1000, 0, &stack);
      return stack;
    };
    EXPECT_EQ(walk(kRoot, 0).broken, Reject::kNone);
    EXPECT_EQ(walk(kRoot, 0).frames.size(), 2u);
    EXPECT_EQ(walk(kShim, 0).broken, Reject::kTorn);  // a chain that is cut off
    EXPECT_EQ(walk(kRoot, 1).broken, Reject::kTorn);  // a generator without its caller
  }
}

// The collector was called by C code that has just begun, or just ended, a call of Python code.
TEST(StackTest, TheCollectorsMarkStandsBeforeAShimToo) {
  constexpr uint64_t kThread = 0x10000, kFinalizer = 0x20000, kCall = 0x21000, kShim = 0x22000, kCaller = 0x23000;
  const Layout& layout = kLayout3_15;
  RecordedMemory memory;
  const auto put = [&](uint64_t address, uint64_t previous, uint8_t owner) {
    Put(memory, address, FrameOf(layout, previous, owner));
  };
  std::string thread(1024, '\0');
  Store<uint64_t>(&thread, layout.thread.frame, kFinalizer);
  Put(memory, kThread, thread);
  put(kFinalizer, kCall, 0);
  put(kCall, kShim, 3);
  put(kShim, kCaller, 3);
  put(kCaller, 0x24000, 0);
  put(0x24000, 0, 3);
  Mirror mirror;
  RawStack stack;
  WalkStack(memory, mirror, layout, kThread, 1000, kShim, &stack);
  EXPECT_EQ(stack.broken, Reject::kNone);
  ASSERT_EQ(stack.frames.size(), 3u);
  EXPECT_EQ(stack.frames[0].address, kFinalizer);
  EXPECT_TRUE(stack.frames[0].is_entry);
  EXPECT_EQ(stack.frames[1], RawFrame{.code = kCollectorMark});
  EXPECT_EQ(stack.frames[2].address, kCaller);
}

TEST(ValueTextTest, TheTextOfAStringOfASubclassIsReadWhereItLies) {
  constexpr uint64_t kString = 0x10000, kType = 0x11000, kTypeName = 0x12000, kText = 0x13000;
  for (uint32_t minor = kOldestMinor; minor <= kNewestMinor; ++minor) {
    const Layout& layout = *FindLayout(minor);
    RecordedMemory memory;
    std::string type(512, '\0');
    Store<uint64_t>(&type, layout.type.name, kTypeName);
    Store<uint64_t>(&type, layout.type.flags, 1 << 9 | 1 << 28);  // made at run time, a str
    Put(memory, kType, type);
    Put(memory, kTypeName, std::string("Title").append(120, '\0'));
    Put(memory, kText, "hello");
    std::string string(128, '\0');
    Store<uint64_t>(&string, layout.object.type, kType);
    Store<uint64_t>(&string, layout.unicode.length, 5);
    Store<uint32_t>(&string, layout.unicode.state, 1U << layout.unicode.kind_shift | 1U << layout.unicode.ascii_bit);
    Store<uint64_t>(&string, layout.unicode.any_data, kText);
    Put(memory, kString, string);
    EXPECT_EQ(ValueText(memory, layout, {}).Of(kString), "Title('hello')") << minor;
    memory.pieces.erase(kText);
    EXPECT_EQ(ValueText(memory, layout, {}).Of(kString), "<Title at 0x10000>") << minor;
  }
}

// 300 threads, each with the same 1,000 frames, one on each page: 4 MiB of a target, and 1.2 GB of copies.
struct DeepThreads final : MemoryReader {
  static constexpr uint64_t kRuntime = 0x10000, kInterpreter = 0x20000, kThreads = 0x100000, kFrames = 0x10000000;
  static constexpr uint64_t kCount = 300, kDepth = 1000;

  uint64_t WordAt(uint64_t address) const {
    const Layout& at = kLayout3_13;
    if (address == kRuntime + at.runtime.interpreters_head) return kInterpreter;
    if (address == kInterpreter + at.interpreter.threads_head) return kThreads;
    const uint64_t thread = (address - kThreads) / Mirror::kPage;
    const uint64_t frame = (address - kFrames) / Mirror::kPage;
    const uint64_t offset = address % Mirror::kPage;
    if (address >= kFrames && frame < kDepth) {
      if (offset == at.frame.code) return 0x30000;
      return offset == at.frame.previous && frame + 1 < kDepth ? kFrames + (frame + 1) * Mirror::kPage : 0;
    }
    if (address < kThreads || thread >= kCount) return 0;
    if (offset == at.thread.next) return thread + 1 < kCount ? kThreads + (thread + 1) * Mirror::kPage : 0;
    return offset == at.thread.interpreter ? kInterpreter : offset == at.thread.frame ? kFrames : 0;
  }
  void Read(std::span<Segment> segments) override {
    for (Segment& s : segments) {
      s.ok = true;
      for (size_t i = 0; i + 8 <= s.bytes; i += 8) {
        const uint64_t word = WordAt(s.address + i);
        std::memcpy(static_cast<std::byte*>(s.into) + i, &word, sizeof(word));
      }
    }
  }
};

TEST(StackReaderTest, CopiesOfAllThreadsTogetherAreBoundedAndWhatIsBeyondIsTruncated) {
  DeepThreads memory;
  Runtime runtime;
  runtime.minor = 13;
  runtime.address = DeepThreads::kRuntime;
  runtime.layout = kLayout3_13;
  constexpr size_t kMost = 16 << 20;
  StackReader reader(memory, runtime, {.most_frames = 1000, .attempts = 2, .most_bytes = kMost});
  for (int i = 0; i < 3; ++i) {
    const Sample& sample = reader.Read();
    ASSERT_EQ(sample.threads.size(), DeepThreads::kCount);
    size_t frames = 0;
    size_t cut = 0;
    for (const ThreadStack& thread : sample.threads) {
      frames += thread.frames.size();
      cut += thread.truncated ? 1 : 0;
    }
    EXPECT_GT(cut, DeepThreads::kCount / 2);
    EXPECT_LE(frames, kMost / 512);
  }
}

TEST(ElfImageTest, AnythingElseIsNoImage) {
  RecordedMemory memory;
  Put(memory, 0x10000, std::string(4096, '\x7F'));
  Put(memory, 0x20000,
      "\x7F"
      "ELF" +
          std::string(4092, '\xFF'));
  Put(memory, 0x30000,
      "\x7F"
      "ELF\x02\x01" +
          std::string(4090, '\0'));
  for (const uint64_t base : {0x10000, 0x20000, 0x30000, 0x40000}) {
    EXPECT_FALSE(ElfImage::At(memory, base).has_value()) << base;
  }
}

}  // namespace
}  // namespace wf::cpython
