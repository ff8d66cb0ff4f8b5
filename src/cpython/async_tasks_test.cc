// Await chains and tasks in memory made by hand: right, bounded, and unharmed by hostile bytes.
#include "cpython/async_tasks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "cpython/recorded_memory_testing.h"

namespace wf::cpython {
namespace {

constexpr uint64_t kBase = 0x100000;
constexpr size_t kBytes = 64 << 10;
constexpr uint64_t kType = kBase + 0x100;
constexpr uint64_t kTypeName = kBase + 0x800;
constexpr uint64_t kCoroutine = kBase + 0x1000;
constexpr uint64_t kFrame = kBase + 0x2000;  // until 3.10; from then on it lies in the coroutine
constexpr uint64_t kCode = kBase + 0x3000;
constexpr uint64_t kInstructions = kBase + 0x4000;

class AsyncTasksTest : public testing::TestWithParam<int> {
 protected:
  AsyncTasksTest() {
    runtime_.minor = layout_.minor;
    runtime_.layout = layout_;
    runtime_.address = kBase;
    memory_.pieces[kBase].resize(kBytes);
  }

  template <typename T>
  void Put(uint64_t address, T value) {
    std::memcpy(memory_.pieces[kBase].data() + (address - kBase), &value, sizeof(value));
  }
  void PutText(uint64_t address, const std::string& text) {
    std::memcpy(memory_.pieces[kBase].data() + (address - kBase), text.c_str(), text.size() + 1);
  }

  // A coroutine that is suspended where it awaits `awaited`.
  void PutCoroutine(uint64_t awaited) {
    const auto& at = layout_.generator;
    PutText(kTypeName, "coroutine");
    Put(kType + layout_.type.name, kTypeName);
    Put(kCoroutine + layout_.object.type, kType);
    const bool is_inline = layout_.minor >= 11;
    const uint64_t frame = is_inline ? kCoroutine + at.frame : kFrame;
    if (!is_inline) Put(kCoroutine + at.frame, frame);
    Put(frame + layout_.frame.code, kCode);
    Put(kCode + layout_.code.instructions, kInstructions);
    PutState(frame);
    const uint64_t values = frame + layout_.frame.locals;
    Put(values, awaited);
    if (at.value_stack != kAbsent) Put(frame + at.value_stack, values);
    if (layout_.minor <= 9) Put(frame + at.stack_top, values + 8);
    if (layout_.minor >= 10 && layout_.minor <= 13) Put<int32_t>(frame + at.stack_top, 1);
    if (layout_.minor >= 14) Put(frame + at.stack_top, values + (layout_.minor >= 15 ? 16 : 8));
  }

  void PutState(uint64_t frame) {
    const auto& at = layout_.generator;
    const bool by_index = layout_.minor <= 10;
    if (at.frame_state != kAbsent) Put<int8_t>(frame + at.frame_state, -1);
    if (at.state != kAbsent) Put<int8_t>(kCoroutine + at.state, layout_.minor >= 15 ? 2 : -1);
    if (by_index) {
      Put<int32_t>(frame + layout_.frame.instruction, 0);
      Put<uint8_t>(kInstructions + layout_.bytes.data + 2, 72);  // YIELD_FROM
    } else {
      Put(frame + layout_.frame.instruction, kInstructions);
      Put<uint8_t>(kInstructions + 3, 3);  // RESUME after an await
    }
  }

  const Layout layout_ = *FindLayout(static_cast<uint32_t>(GetParam()));
  Runtime runtime_;
  RecordedMemory memory_;
};

TEST_P(AsyncTasksTest, WhatIsNoCoroutineEndsTheChain) {
  PutCoroutine(kBase + 0x5000);
  Put(kBase + 0x5000 + layout_.object.type, kBase + 0x5100);
  Put(kBase + 0x5100 + layout_.type.name, kBase + 0x5800);
  PutText(kBase + 0x5800, "_asyncio.Future");
  const AwaitChain chain = ReadAwaitChain(memory_, layout_, kCoroutine);
  ASSERT_EQ(chain.frames.size(), 1u);
  EXPECT_EQ(chain.frames[0].code, kCode);
  EXPECT_EQ(chain.awaited, kBase + 0x5000);
  EXPECT_FALSE(chain.running);
  EXPECT_FALSE(chain.truncated);
}

TEST_P(AsyncTasksTest, ACoroutineThatAwaitsItselfIsCut) {
  PutCoroutine(kCoroutine);
  const AwaitChain chain = ReadAwaitChain(memory_, layout_, kCoroutine);
  EXPECT_EQ(chain.frames.size(), kMostAwaits);
  EXPECT_TRUE(chain.truncated);
}

TEST_P(AsyncTasksTest, ARingOfWrappersEnds) {
  PutCoroutine(kCoroutine);
  PutText(kTypeName, "async_generator_asend");
  Put(kCoroutine + layout_.object.type + 8, kCoroutine);
  EXPECT_TRUE(ReadAwaitChain(memory_, layout_, kCoroutine).frames.empty());
}

TEST_P(AsyncTasksTest, AStackOfValuesOutsideAllBoundsEndsTheChain) {
  PutCoroutine(kCoroutine);
  const uint64_t frame = layout_.minor >= 11 ? kCoroutine + layout_.generator.frame : kFrame;
  for (const uint64_t top : {uint64_t{0}, uint64_t{0x7FFFFFFF}, UINT64_MAX, uint64_t{8}, uint64_t{1} << 46}) {
    if (layout_.minor >= 10 && layout_.minor <= 13) {
      Put(frame + layout_.generator.stack_top, static_cast<int32_t>(top));
    } else {
      Put(frame + layout_.generator.stack_top, top);
    }
    EXPECT_EQ(ReadAwaitChain(memory_, layout_, kCoroutine).frames.size(), 1u) << top;
  }
}

// Memory full of pointers into itself: each object is of some type that a chain goes through.
TEST_P(AsyncTasksTest, HostileMemoryHarmsNobody) {
  const std::string names[] = {"coroutine", "generator", "async_generator", "coroutine_wrapper", "FutureIter", "int"};
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&] { return kBase + random() % (kBytes / 8) * 8; };
    for (uint64_t at = kBase; at < kBase + kBytes; at += 8) {
      Put<uint64_t>(at, random() % 8 == 0 ? random() % 300 : random() % 50 == 0 ? ~uint64_t{0} : any());
    }
    for (int i = 0; i < 2000; ++i) PutText(std::min(any(), kBase + kBytes - 64), names[random() % 6]);
    memory_.reads = 0;
    const uint64_t threads[] = {any(), any(), 0, UINT64_MAX};
    const AsyncSnapshot snapshot = AsyncTasks(memory_, runtime_).Read(threads);
    EXPECT_LE(snapshot.tasks.size(), AsyncTasks::kMostTasks);
    for (int i = 0; i < 500; ++i) {
      EXPECT_LE(ReadAwaitChain(memory_, layout_, any()).frames.size(), kMostAwaits);
    }
    ASSERT_LT(memory_.reads, 20'000'000u) << "seed " << seed;
  }
}

TEST_P(AsyncTasksTest, ANullInterpreterHasNoTasks) {
  const AsyncSnapshot snapshot = AsyncTasks(memory_, runtime_).Read({});
  EXPECT_FALSE(snapshot.imported);
  EXPECT_TRUE(snapshot.tasks.empty());
}

INSTANTIATE_TEST_SUITE_P(CPython, AsyncTasksTest, testing::Range(8, 16),
                         [](const auto& minor) { return "3_" + std::to_string(minor.param); });

}  // namespace
}  // namespace wf::cpython
