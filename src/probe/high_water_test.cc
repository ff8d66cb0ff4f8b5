#include "probe/high_water.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/burn_testing.h"
#include "probe/readings.h"

namespace wf::probe {
namespace {

constexpr int64_t kSpike = 200 * kMiB;

class HighWaterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HighWaterMark().resettable()) GTEST_SKIP() << "/proc/self/clear_refs cannot be written here";
  }
  HighWaterMark mark_;
};

TEST_F(HighWaterTest, SeesASpikeThatIsOverBeforeItAsks) {
  ASSERT_TRUE(mark_.Cut());
  const int64_t before = ResidentBytes();
  const int64_t segment = mark_.segment();
  SpikeMemory(kSpike);
  const int64_t peak = mark_.CutAndPeakSince(segment);
  EXPECT_GE(peak, before + kSpike * 95 / 100);
  EXPECT_LE(peak, before + kMostResidentPerByte * kSpike + 64 * kMiB);
}

TEST_F(HighWaterTest, ForgetsASpikeFromBeforeTheSegment) {
  ASSERT_TRUE(mark_.Cut());
  SpikeMemory(kSpike);
  ASSERT_TRUE(mark_.Cut());
  EXPECT_LT(mark_.CutAndPeakSince(mark_.segment()), ResidentBytes() + kSpike / 2);
}

TEST_F(HighWaterTest, ACutOfOneDoesNotEraseTheSpikeOfAnother) {
  ASSERT_TRUE(mark_.Cut());
  const int64_t outer = mark_.segment();
  SpikeMemory(kSpike);
  ASSERT_TRUE(mark_.Cut());
  const int64_t inner = mark_.segment();
  EXPECT_LT(mark_.CutAndPeakSince(inner), ResidentBytes() + kSpike / 2);
  EXPECT_GE(mark_.CutAndPeakSince(outer), kSpike);
}

// getrusage's mark of a program started by exec is never below the peak of the one that called exec.
TEST_F(HighWaterTest, IsNotFooledByTheMemoryOfTheProgramThatCalledExec) {
  if (const char* stage = getenv("WF_HIGH_WATER_STAGE"); stage != nullptr) {
    ASSERT_TRUE(mark_.Cut());
    const int64_t peak = mark_.CutAndPeakSince(mark_.segment());
    _exit(peak > 0 && peak < kSpike ? 0 : 1);
  }
  const pid_t child = fork();
  if (child == 0) {
    SpikeMemory(2 * kSpike);
    setenv("WF_HIGH_WATER_STAGE", "1", 1);
    execl("/proc/self/exe", "high_water_test", "--gtest_filter=HighWaterTest.IsNotFooled*", nullptr);
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(HighWaterClosedTest, SaysSoWhenTheMarkCannotBeReset) {
  HighWaterMark closed("/proc/self/no_such_file");
  EXPECT_FALSE(closed.resettable());
  EXPECT_FALSE(closed.Cut());
  EXPECT_EQ(closed.CutAndPeakSince(closed.segment()), -1);
}

}  // namespace
}  // namespace wf::probe
