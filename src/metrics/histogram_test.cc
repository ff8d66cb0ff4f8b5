#include "metrics/histogram.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace wf::metrics {
namespace {

using ::testing::ElementsAre;

Bounds Of(std::vector<double> values) { return *MakeBounds(values); }

TEST(HistogramTest, CountsAValueInTheBucketWhoseBoundItEquals) {
  Histogram histogram(Of({1, 2, 5}));
  for (double value : {0.5, 1.0, 1.5, 5.0, 6.0}) histogram.Observe(value);
  const HistogramSnapshot snapshot = histogram.Snapshot();
  EXPECT_THAT(snapshot.cumulative, ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(snapshot.count(), 5);
  EXPECT_DOUBLE_EQ(snapshot.sum, 14.0);
}

TEST(HistogramTest, FindsTheRightBucketForAnyNumberOfBounds) {
  for (size_t size = 1; size <= 140; ++size) {
    std::vector<double> bounds;
    for (size_t i = 0; i < size; ++i) bounds.push_back(static_cast<double>(i));
    for (size_t wanted = 0; wanted <= size; ++wanted) {
      Histogram histogram(Of(bounds));
      histogram.Observe(static_cast<double>(wanted) - 0.5);
      const HistogramSnapshot snapshot = histogram.Snapshot();
      for (size_t i = 0; i <= size; ++i)
        EXPECT_EQ(snapshot.cumulative[i], i >= wanted ? 1 : 0) << size << " " << wanted;
    }
  }
}

TEST(HistogramTest, OneBadValueDoesNotSpoilTheSum) {
  Histogram histogram(Of({1}));
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(histogram.Observe(std::nan("")));
  EXPECT_TRUE(histogram.Observe(inf));
  EXPECT_TRUE(histogram.Observe(-inf));
  EXPECT_TRUE(histogram.Observe(3));
  const HistogramSnapshot snapshot = histogram.Snapshot();
  EXPECT_THAT(snapshot.cumulative, ElementsAre(1, 3));
  EXPECT_EQ(snapshot.sum, 3);
}

TEST(BucketsTest, DefaultBoundsAscendFromAMillisecondToEightHours) {
  const auto bounds = DefaultBounds();
  ASSERT_EQ(bounds.size(), 25);
  EXPECT_EQ(bounds.front(), 0.001);
  EXPECT_EQ(bounds.back(), 28800);
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
}

TEST(BucketsTest, ExtraBoundsAreMergedOnce) {
  const std::vector<double> extra = {30, 42, 0.5};
  const Bounds bounds = *MakeBounds(std::vector<double>{1, 30, std::numeric_limits<double>::infinity()}, extra);
  EXPECT_THAT(*bounds, ElementsAre(0.5, 1, 30, 42));
}

TEST(BucketsTest, RefusesBoundsThatCannotBeWritten) {
  EXPECT_EQ(MakeBounds(std::vector<double>{}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeBounds(std::vector<double>{1, std::nan("")}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeBounds(std::vector<double>(1, -INFINITY)).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeBounds(std::vector<double>(1, INFINITY)).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace wf::metrics
