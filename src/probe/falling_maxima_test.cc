#include "probe/falling_maxima.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wf::probe {
namespace {

TEST(FallingMaximaTest, AnswersNothingForPositionsAfterTheLast) {
  FallingMaxima maxima;
  EXPECT_FALSE(maxima.Since(0).has_value());
  maxima.Add(3, 10);
  EXPECT_EQ(maxima.Since(3), 10);
  EXPECT_FALSE(maxima.Since(4).has_value());
}

TEST(FallingMaximaTest, AgreesWithAScanOfAllValues) {
  std::mt19937 random(7);
  FallingMaxima maxima;
  std::vector<int64_t> values;
  for (int i = 0; i < 2000; ++i) {
    values.push_back(static_cast<int64_t>(random() % 1000));
    maxima.Add(i, values.back());
    const auto from = static_cast<int64_t>(random() % values.size());
    int64_t highest = 0;
    for (size_t at = static_cast<size_t>(from); at < values.size(); ++at) highest = std::max(highest, values[at]);
    ASSERT_EQ(maxima.Since(from), highest) << "at " << i << " from " << from;
  }
}

TEST(FallingMaximaTest, StaysBoundedAndNeverAnswersTooLowWhenValuesOnlyFall) {
  FallingMaxima maxima;
  constexpr int64_t kLast = 100'000;
  for (int64_t i = 0; i <= kLast; ++i) {
    maxima.Add(i, 2 * kLast - i);
    ASSERT_LE(maxima.size(), FallingMaxima::kCapacity);
  }
  for (int64_t from = 0; from <= kLast; from += 997) EXPECT_GE(maxima.Since(from), 2 * kLast - from);
  EXPECT_EQ(maxima.Since(kLast), kLast);  // the newest half is exact
}

}  // namespace
}  // namespace wf::probe
