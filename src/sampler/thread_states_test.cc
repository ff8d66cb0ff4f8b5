#include "sampler/thread_states.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace wf::sampler {
namespace {

// A thread that waits until it is told to spin, and spins until the end.
class Sleeper {
 public:
  Sleeper() {
    thread_ = std::thread([this] {
      tid_ = static_cast<int32_t>(syscall(SYS_gettid));
      wakes_.wait(false);
      while (!ends_) continue;
    });
    while (tid_ == 0) std::this_thread::yield();
  }
  ~Sleeper() {
    ends_ = true;
    Wake();
    thread_.join();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  void Wake() {
    wakes_ = true;
    wakes_.notify_all();
  }
  int32_t tid() const { return tid_; }

 private:
  std::atomic<int32_t> tid_ = 0;
  std::atomic<bool> wakes_ = false;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

// On a busy machine a thread takes its time to get where it goes.
template <typename Ask>
bool Becomes(char wanted, const Ask& ask) {
  for (int i = 0; i < 10'000; ++i) {
    if (ask() == wanted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(ThreadStatesTest, AThreadThatWaitsAndThenRunsIsSeenToDoSo) {
  ThreadStates states(getpid());
  Sleeper sleeper;
  int64_t now_ns = 0;
  const auto activity = [&] { return states.Activity(sleeper.tid(), false, ++now_ns); };
  EXPECT_TRUE(Becomes('S', activity));
  EXPECT_EQ(activity(), 'S');
  EXPECT_EQ(states.State(sleeper.tid()), 'S');
  sleeper.Wake();
  EXPECT_TRUE(Becomes('R', activity));
  EXPECT_EQ(activity(), 'R');
  EXPECT_EQ(states.State(sleeper.tid()), 'R');
}

TEST(ThreadStatesTest, AThreadThatRanNoPythonIsAskedAgainAfterAWhile) {
  ThreadStates states(getpid());
  Sleeper sleeper;
  EXPECT_TRUE(Becomes('S', [&] { return states.Activity(sleeper.tid(), false, 0); }));
  sleeper.Wake();
  EXPECT_TRUE(Becomes('R', [&] { return states.State(sleeper.tid()); }));
  EXPECT_EQ(states.Activity(sleeper.tid(), true, 1), 'S');
  int64_t now_ns = 0;
  EXPECT_TRUE(Becomes('R', [&] { return states.Activity(sleeper.tid(), true, now_ns += ThreadStates::kLateNs); }));
}

TEST(ThreadStatesTest, AThreadThatIsNotThereHasNoState) {
  ThreadStates states(getpid());
  for (const int32_t tid : {0, -1, INT32_MAX}) {
    EXPECT_EQ(states.State(tid), '?');
    EXPECT_FALSE(states.Exists(tid));
    EXPECT_EQ(states.Activity(tid, false, 0), '?');
  }
  int32_t gone = 0;
  {
    const Sleeper sleeper;
    gone = sleeper.tid();
    EXPECT_NE(states.Activity(gone, false, 0), '?');
    EXPECT_TRUE(states.Exists(gone));
  }
  EXPECT_TRUE(Becomes('?', [&] { return states.Activity(gone, false, 0); }));
}

TEST(ThreadStatesTest, OnlyThoseThatAreKeptAreRemembered) {
  ThreadStates states(getpid());
  Sleeper first;
  Sleeper second;
  EXPECT_TRUE(Becomes('S', [&] { return states.Activity(first.tid(), false, 0); }));
  EXPECT_TRUE(Becomes('S', [&] { return states.Activity(second.tid(), false, 0); }));
  states.KeepOnly({second.tid()});
  first.Wake();
  second.Wake();
  EXPECT_TRUE(Becomes('R', [&] { return states.State(first.tid()); }));
  EXPECT_EQ(states.Activity(first.tid(), true, 1), 'R');  // asked anew
  EXPECT_EQ(states.Activity(second.tid(), true, 1), 'S');
}

}  // namespace
}  // namespace wf::sampler
