#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "context/page.h"
#include "context/page_reader.h"
#include "context/thread_slot.h"

namespace wf::context {
namespace {

Position MakePosition(uint64_t attempt) {
  return {base::RunId::Make(), attempt, attempt * 2, attempt * 3, attempt % 2 == 1};
}

// This process's page, read as a sampler would.
Snapshot ReadOwnPage() {
  const Result<PageAddress> at = FindPageOf(getpid());
  EXPECT_TRUE(at.ok()) << at.status().message();
  if (!at.ok()) return {};
  std::vector<std::byte> scratch;
  Result<Snapshot> snapshot = ReadPage(getpid(), *at, &scratch);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
  return snapshot.ok() ? *std::move(snapshot) : Snapshot();
}

const ThreadEntry* EntryOf(const Snapshot& snapshot, int32_t tid) {
  for (const ThreadEntry& entry : snapshot.threads) {
    if (entry.tid == tid) return &entry;
  }
  return nullptr;
}

// Runs `body` in a forked child; its exit status.
int InChild(const std::function<bool()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(Context, ScopesNestAndRestoreWhatWasBefore) {
  const Position outer = MakePosition(1);
  const Position inner = MakePosition(2);
  const Position before = Current().Get();
  {
    const Scope first(outer);
    EXPECT_EQ(Current().Get(), outer);
    {
      const Scope second(inner);
      EXPECT_EQ(Current().Get(), inner);
    }
    EXPECT_EQ(Current().Get(), outer);
  }
  EXPECT_EQ(Current().Get(), before);
}

TEST(Context, AReaderFindsThePageAndTheAttemptOfTheThread) {
  const Position position = MakePosition(42);
  const Scope scope(position);
  const Snapshot snapshot = ReadOwnPage();
  EXPECT_EQ(snapshot.pid, getpid());
  const ThreadEntry* const entry = EntryOf(snapshot, gettid());
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->run, position.run);
  EXPECT_EQ(entry->attempt, 42U);
  EXPECT_EQ(entry->node, 84U);
  EXPECT_EQ(entry->task, 126U);
}

TEST(Context, AThreadWithoutAnAttemptIsNotListed) {
  Current().Clear();
  EXPECT_EQ(EntryOf(ReadOwnPage(), gettid()), nullptr);
}

TEST(Context, CoroutinesOnOneThreadSwitchByGetAndSet) {
  const Position a = MakePosition(1);
  const Position b = MakePosition(2);
  const Position before = Current().Get();
  for (int i = 0; i < 100; ++i) {
    const Position& position = i % 2 == 0 ? a : b;
    Current().Set(position);
    EXPECT_EQ(Current().Get(), position);
    Current().Set(before);
  }
  EXPECT_EQ(Current().Get(), before);
}

TEST(Context, AProcessWithoutAPageIsNotFound) {
  EXPECT_EQ(FindPage("").status().code(), Code::kNotFound);
  EXPECT_EQ(FindPage("7f00-7f01 rw-s 0 00:01 5 /memfd:other (deleted)\n").status().code(), Code::kNotFound);
  EXPECT_EQ(FindPageOf(-1).status().code(), Code::kNotFound);
}

TEST(Context, OddLinesOfMapsAreSkipped) {
  const std::string name = " rw-s 00000000 00:01 5    /memfd:wf-context (deleted)\n";
  for (const char* range : {"", "-", "zz-zz", "10-", "20-10", "10-11", "ffffffffffffffffff-1"}) {
    EXPECT_FALSE(FindPage(range + name).ok()) << range;
  }
  const Result<PageAddress> found = FindPage("10-11" + name + "7f0000000000-7f0000040000" + name);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->address, 0x7f0000000000U);
  EXPECT_EQ(found->bytes, 0x40000U);
}

// The name of number `name` on this process's page.
std::string NameOn(uint32_t name) {
  const Result<PageAddress> at = FindPageOf(getpid());
  const Result<std::string> text = at.ok() ? ReadName(getpid(), *at, name) : Result<std::string>(at.status());
  return text.ok() ? *text : std::string("?");
}

TEST(Context, EqualNamesHaveOneNumberAndCanBeReadFromOutside) {
  const uint32_t a = NumberOfName("load");
  const uint32_t b = NumberOfName("train");
  EXPECT_NE(a, 0U);
  EXPECT_NE(a, b);
  EXPECT_EQ(NumberOfName("load"), a);
  EXPECT_EQ(NumberOfName(""), 0U);
  EXPECT_EQ(NameOn(a), "load");
  EXPECT_EQ(NameOn(b), "train");
  EXPECT_EQ(NameOn(0), "?");
  EXPECT_EQ(NameOn(kNameCount), "?");
  EXPECT_EQ(NameOn(kNameCount + 1), "?");
  Position position = MakePosition(1);
  position.name = b;
  const Scope scope(position);
  EXPECT_EQ(Current().Get(), position);
  const Snapshot snapshot = ReadOwnPage();
  ASSERT_NE(EntryOf(snapshot, gettid()), nullptr);
  EXPECT_EQ(EntryOf(snapshot, gettid())->name, b);
  EXPECT_TRUE(EntryOf(snapshot, gettid())->sampled);
}

TEST(Context, LongNamesAreCutOffBetweenCharacters) {
  const std::string most(252, 'a');
  EXPECT_EQ(NameOn(NumberOfName(most)), most);
  EXPECT_EQ(NumberOfName(most + "b"), NumberOfName(most));
  EXPECT_EQ(NameOn(NumberOfName(most.substr(0, 251) + "é")), most.substr(0, 251));
  EXPECT_EQ(NameOn(NumberOfName(most.substr(0, 250) + "éé")), most.substr(0, 250) + "é");
}

TEST(Context, ForkedChildrenKnowTheNamesAndAddTheirOwn) {
  const uint32_t before = NumberOfName("before the fork");
  EXPECT_EQ(InChild([before] {
              const uint32_t own = NumberOfName("of the child");
              return NameOn(before) == "before the fork" && NumberOfName("before the fork") == before &&
                     NameOn(own) == "of the child";
            }),
            0);
  EXPECT_EQ(NameOn(NumberOfName("of the parent")), "of the parent");
}

TEST(Context, NamesForWhichThereIsNoRoomHaveNoNumber) {
  EXPECT_EQ(InChild([] {
              for (uint32_t i = 0; i < kNameCount; ++i) (void)NumberOfName("name " + std::to_string(i));
              return NumberOfName("one more") == 0 && NumberOfName("name 1") != 0;
            }),
            0);
}

TEST(Context, ThreadsThatNameTasksAtOnceDoNotMixThemUp) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&wrong, i] {
      for (int j = 0; j < 20; ++j) {
        const std::string name = "task " + std::to_string((i + j) % 20);
        if (NameOn(NumberOfName(name)) != name) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Context, TwoHundredThreadsComingAndGoingReuseSlots) {
  (void)Current();
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back([&wrong, i] {
        const Position position = MakePosition(static_cast<uint64_t>(i) + 1);
        const Scope scope(position);
        if (Current().Get() != position) ++wrong;
        const Snapshot snapshot = ReadOwnPage();
        const ThreadEntry* const entry = EntryOf(snapshot, gettid());
        if (entry == nullptr || entry->run != position.run) ++wrong;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
  const Snapshot after = ReadOwnPage();
  EXPECT_LE(after.threads.size(), 1U);
  // 200 threads passed, 20 at a time: the page did not grow with them.
  const auto* const header = reinterpret_cast<const PageHeader*>(Page::Instance().bytes().data());
  EXPECT_LE(header->used_slots.load(), 64U);
  EXPECT_EQ(after.overflowed, 0U);
}

TEST(Context, ForkedChildHasAPageOfItsOwnAndLeavesTheParentsAlone) {
  const Position position = MakePosition(7);
  const Scope scope(position);
  std::atomic<bool> stop{false};
  std::atomic<bool> ready{false};
  std::thread other([&] {
    const Scope others(MakePosition(8));
    ready = true;
    while (!stop) std::this_thread::yield();
  });
  while (!ready) std::this_thread::yield();
  const uint32_t generation = ReadOwnPage().generation;
  EXPECT_EQ(InChild([&] {
              const Snapshot inherited = ReadOwnPage();
              const bool is_alone = inherited.threads.size() == 1 && inherited.pid == getpid() &&
                                    inherited.generation == generation + 1 && inherited.threads[0].tid == gettid() &&
                                    inherited.threads[0].attempt == 7;
              Current().Set(MakePosition(99));
              // A grandchild too.
              return is_alone && InChild([&] { return ReadOwnPage().generation == generation + 2; }) == 0;
            }),
            0);
  const Snapshot mine = ReadOwnPage();
  ASSERT_NE(EntryOf(mine, gettid()), nullptr);
  EXPECT_EQ(EntryOf(mine, gettid())->attempt, 7U);
  EXPECT_EQ(mine.threads.size(), 2U);
  EXPECT_EQ(mine.pid, getpid());
  stop = true;
  other.join();
}

TEST(Context, ThreadsOfAForkedChildAreOnItsPageOnly) {
  const Scope scope(MakePosition(7));
  EXPECT_EQ(InChild([] {
              bool is_seen = false;
              std::thread thread([&] {
                const Scope inner(MakePosition(8));
                const Snapshot snapshot = ReadOwnPage();
                const ThreadEntry* const entry = EntryOf(snapshot, gettid());
                is_seen = snapshot.threads.size() == 2 && entry != nullptr && entry->attempt == 8;
              });
              thread.join();
              return is_seen;
            }),
            0);
  EXPECT_EQ(ReadOwnPage().threads.size(), 1U);
}

TEST(Context, CopiesMadeDuringWritesNeverMixTwoAttempts) {
  // A writer that changes all fields together; a reader whose copies are not atomic.
  std::atomic<bool> stop{false};
  std::atomic<int32_t> tid{0};
  std::thread writer([&] {
    Current().Clear();  // the page is there before anybody looks for it
    tid = gettid();
    base::RunId run = base::RunId::Make();
    for (uint64_t i = 1; !stop; ++i) {
      run.bytes[15] = static_cast<uint8_t>(i);
      Current().Set({run, i, i * 2, i * 3});
    }
  });
  while (tid == 0) std::this_thread::yield();
  const Result<PageAddress> at = FindPageOf(getpid());
  ASSERT_TRUE(at.ok());
  int whole = 0;
  std::vector<std::byte> scratch;
  for (int i = 0; i < 20'000; ++i) {
    const Result<Snapshot> snapshot = ReadPage(getpid(), *at, &scratch);
    ASSERT_TRUE(snapshot.ok());
    const ThreadEntry* const entry = EntryOf(*snapshot, tid);
    if (entry == nullptr) continue;
    ++whole;
    ASSERT_EQ(entry->node, entry->attempt * 2);
    ASSERT_EQ(entry->task, entry->attempt * 3);
    ASSERT_EQ(entry->run.bytes[15], static_cast<uint8_t>(entry->attempt));
  }
  stop = true;
  writer.join();
  EXPECT_GT(whole, 0);
}

TEST(Context, TornSlotsAreNamedNotGuessed) {
  const Scope scope(MakePosition(5));
  const auto page = Page::Instance().bytes();
  std::vector<std::byte> copy(page.begin(), page.end());
  for (size_t at = sizeof(PageHeader); at + sizeof(Slot) <= copy.size(); at += sizeof(Slot)) {
    int32_t tid = 0;
    std::memcpy(&tid, copy.data() + at + 4, sizeof(tid));
    if (tid == gettid()) copy[at + 24] ^= std::byte{1};  // the attempt of another write
  }
  const Result<Snapshot> snapshot = DecodePage(copy);
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(EntryOf(*snapshot, gettid()), nullptr);
  EXPECT_THAT(snapshot->torn, testing::Contains(gettid()));
}

TEST(Context, DamagedPagesAreRefusedOrReadWithinBounds) {
  const Scope scope(MakePosition(5));
  const auto page = Page::Instance().bytes();
  const std::vector<std::byte> whole(page.begin(), page.begin() + sizeof(PageHeader) + 8 * sizeof(Slot));
  EXPECT_FALSE(DecodePage({}).ok());
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = whole;
    for (int changes = 0; changes < 4; ++changes) bytes[random() % 128] = static_cast<std::byte>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    const Result<Snapshot> snapshot = DecodePage(bytes);
    if (snapshot.ok()) {
      EXPECT_LE(snapshot->threads.size(), 8U);
    }
  }
}

TEST(Context, ThreadsAboveTheNumberOfSlotsWorkWithoutBeingSeen) {
  // All slots of the page are taken from here on, in a child that ends with them.
  EXPECT_EQ(InChild([] {
              while (Page::Instance().Take(1) != nullptr) {
              }
              bool is_fine = false;
              std::thread unseen([&] {
                const Position position = MakePosition(3);
                const Scope scope(position);
                is_fine = Current().Get() == position && EntryOf(ReadOwnPage(), gettid()) == nullptr;
              });
              unseen.join();
              return is_fine && ReadOwnPage().overflowed >= 1;
            }),
            0);
}

struct SetsAtTheEnd {
  bool* is_fine;
  ~SetsAtTheEnd() {
    const Position position = MakePosition(4);
    Current().Set(position);
    *is_fine = Current().Get() == position;
  }
};

TEST(Context, DestructorsOfAThreadMayStillSetAfterItsSlotWasGivenBack) {
  bool is_fine = false;
  std::thread thread([&] {
    thread_local SetsAtTheEnd last{&is_fine};  // made before the slot is taken, so destroyed after it is given back
    (void)&last;
    Current().Set(MakePosition(1));
  });
  thread.join();
  EXPECT_TRUE(is_fine);
  EXPECT_LE(ReadOwnPage().threads.size(), 1U);
}

}  // namespace
}  // namespace wf::context
