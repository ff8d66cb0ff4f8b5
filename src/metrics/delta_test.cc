#include "metrics/delta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Delta, CountersAddUpOnceHoweverOftenTheWorkerTells) {
  Registry worker;
  Registry owner;
  Counter& rows = (*worker.AddCounter("rows", "Rows.", {"table"}))->At({"users"});
  DeltaSource source(&worker);
  rows.Inc(3);
  ASSERT_TRUE(AddDelta(source.Take(), &owner).ok());
  rows.Inc(4);
  ASSERT_TRUE(AddDelta(source.Take(), &owner).ok());
  EXPECT_THAT(source.Take(), IsEmpty());
  EXPECT_EQ((*owner.AddCounter("rows", "Rows.", {"table"}))->At({"users"}).Value(), 7);
}

TEST(Delta, HistogramsOfTwoWorkersAddUpBucketByBucket) {
  Registry owner;
  const std::vector<double> bounds{1, 10};
  for (int worker_number = 0; worker_number < 2; ++worker_number) {
    Registry worker;
    Histogram& sizes = (*worker.AddHistogram("sizes", "Sizes.", {}, bounds))->At({});
    DeltaSource source(&worker);
    for (const double value : {0.5, 5.0, 50.0, 500.0}) sizes.Observe(value);
    ASSERT_TRUE(AddDelta(source.Take(), &owner).ok());
    sizes.Observe(0.25);
    ASSERT_TRUE(AddDelta(source.Take(), &owner).ok());
  }
  const HistogramSnapshot sum = (*owner.AddHistogram("sizes", "Sizes.", {}, bounds))->At({}).Snapshot();
  EXPECT_THAT(sum.cumulative, ElementsAre(4, 6, 10));
  EXPECT_DOUBLE_EQ(sum.sum, 2 * 555.75);
}

TEST(Delta, AGaugeIsSentWhenItChangedAndTheLastWriterWins) {
  Registry worker;
  Registry owner;
  Gauge& depth = (*worker.AddGauge("depth", "Depth."))->At({});
  DeltaSource source(&worker);
  depth.Set(5);
  ASSERT_TRUE(AddDelta(source.Take(), &owner).ok());
  EXPECT_THAT(source.Take(), IsEmpty());
  EXPECT_EQ((*owner.AddGauge("depth", "Depth."))->At({}).Value(), 5);
}

TEST(Delta, AFamilyOfAnotherShapeIsLeftAloneAndTheRestIsAdded) {
  Registry worker;
  Registry owner;
  (*worker.AddCounter("things", "Things."))->At({}).Inc();
  (*worker.AddCounter("others", "Others."))->At({}).Inc();
  ASSERT_TRUE(owner.AddGauge("things", "Another thing.").ok());
  DeltaSource source(&worker);
  const auto delta = source.Take();
  ASSERT_THAT(delta, SizeIs(2));
  EXPECT_EQ(AddDelta(delta, &owner).code(), Code::kAlreadyExists);
  EXPECT_EQ((*owner.AddCounter("others", "Others."))->At({}).Value(), 1);
}

}  // namespace
}  // namespace wf::metrics
