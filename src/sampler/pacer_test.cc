#include "sampler/pacer.h"

#include <gtest/gtest.h>

namespace wf::sampler {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(Pacer, RoundsInTimeKeepToTheGridHoweverLateWithinTheirPeriod) {
  Pacer pacer(7, 100);
  EXPECT_EQ(pacer.deadline_ns(), 7);
  EXPECT_EQ(pacer.Next(7 + 9 * kMs), 0U);
  EXPECT_EQ(pacer.deadline_ns(), 7 + 10 * kMs);
  EXPECT_EQ(pacer.Next(7 + 11 * kMs), 0U);
  EXPECT_EQ(pacer.deadline_ns(), 7 + 20 * kMs);
}

TEST(Pacer, RoundsThatCameTooLateAreCountedAndTheLastOfThemIsStillMade) {
  Pacer pacer(0, 100);
  // It is 35 ms: those of 10 and 20 ms are lost, that of 30 ms is late.
  EXPECT_EQ(pacer.Next(35 * kMs), 2U);
  EXPECT_EQ(pacer.deadline_ns(), 30 * kMs);
  EXPECT_EQ(pacer.Next(36 * kMs), 0U);
  EXPECT_EQ(pacer.deadline_ns(), 40 * kMs);
}

TEST(Pacer, ARateThatDividesNoSecondDoesNotDrift) {
  Pacer pacer(0, 3);
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(pacer.Next(pacer.deadline_ns()), 0U);
  EXPECT_EQ(pacer.deadline_ns(), int64_t{1000} * 1000 * kMs);
}

}  // namespace
}  // namespace wf::sampler
