#include "context/position_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "context/thread_slot.h"

namespace wf::context {
namespace {

Position At(uint64_t attempt, bool sampled = true) { return {base::RunId::Make(), attempt, 1, 1, sampled}; }

TEST(PositionReader, FindsAThreadThatStayedInItsAttempt) {
  const Scope scope(At(7));
  PositionReader positions(getpid());
  positions.Before(base::MonotonicNs());
  positions.After();
  const ThreadEntry* const entry = positions.Find(gettid());
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->attempt, 7U);
  EXPECT_TRUE(entry->sampled);
}

TEST(PositionReader, DoesNotFindAThreadThatWentToAnotherAttemptMeanwhile) {
  const Scope scope(At(7));
  PositionReader positions(getpid());
  positions.Before(base::MonotonicNs());
  Current().Set(At(8));
  positions.After();
  EXPECT_EQ(positions.Find(gettid()), nullptr);
}

TEST(PositionReader, DoesNotFindAThreadThatWasElsewhereAndCameBackMeanwhile) {
  const Position position = At(7);
  const Scope scope(position);
  PositionReader positions(getpid());
  positions.Before(base::MonotonicNs());
  Current().Set(At(8));
  Current().Set(position);
  positions.After();
  EXPECT_EQ(positions.Find(gettid()), nullptr);
}

TEST(PositionReader, TellsWhetherAnyAttemptIsSampled) {
  const Scope scope(At(7, false));
  PositionReader positions(getpid());
  positions.Before(base::MonotonicNs());
  EXPECT_FALSE(positions.AnySampled());
  Current().Set(At(8, true));
  positions.Before(base::MonotonicNs());
  EXPECT_TRUE(positions.AnySampled());
}

TEST(PositionReader, KnowsTheNameOfTheTask) {
  Position position = At(7);
  position.name = NumberOfName("clean_up");
  const Scope scope(position);
  PositionReader positions(getpid());
  positions.Before(base::MonotonicNs());
  positions.After();
  const ThreadEntry* const entry = positions.Find(gettid());
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(positions.NameOf(*entry), "clean_up");
  for (const uint32_t unknown : {0U, 900U, UINT32_MAX}) {
    ThreadEntry other = *entry;
    other.name = unknown;
    EXPECT_EQ(positions.NameOf(other), "");
  }
}

TEST(PositionReader, MappingsChangeTheNumberOfPages) {
  base::Fd file;
  const uint64_t before = MappedPages(getpid(), &file);
  ASSERT_GT(before, 0U);
  constexpr size_t kBytes = size_t{1} << 20;
  void* const more = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(MappedPages(getpid(), &file), before);
  munmap(more, kBytes);
  base::Fd none;
  EXPECT_EQ(MappedPages(1 << 30, &none), 0U);
}

TEST(PositionReader, AProcessWithoutAPageHasNoAttempts) {
  PositionReader positions(1 << 30);  // no such process
  positions.Before(base::MonotonicNs());
  positions.After();
  EXPECT_EQ(positions.Find(gettid()), nullptr);
  EXPECT_FALSE(positions.AnySampled());
}

}  // namespace
}  // namespace wf::context
