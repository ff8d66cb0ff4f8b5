#include "analysis/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/record_for_test.h"

namespace wf::analysis {
namespace {

TEST(DiffTest, TasksAreMatchedByName) {
  RecordForTest before(1000);
  before.Call("load", 0, 200, 100);
  before.Call("train", 200, 1000, 800);
  RecordForTest after(600);
  after.Call("train", 0, 400, 800);
  after.Call("load", 400, 600, 100);
  const Diff diff = Compare(Summarize(before.record()), Summarize(after.record()));
  ASSERT_EQ(diff.tasks.size(), 2U);
  EXPECT_EQ(diff.tasks[0].task, "train");  // the largest change comes first
  EXPECT_DOUBLE_EQ(*diff.tasks[0].wall_ns.ratio, 0.5);
  EXPECT_DOUBLE_EQ(*diff.tasks[0].cpu_ns.ratio, 1.0);
  EXPECT_DOUBLE_EQ(*diff.run.wall_ns.ratio, 0.6);
}

TEST(DiffTest, ATaskInOneRunOnlyHasNoRatio) {
  RecordForTest before(1000);
  before.Call("old", 0, 200);
  RecordForTest after(1000);
  after.Call("new", 0, 300);
  const Diff diff = Compare(Summarize(before.record()), Summarize(after.record()));
  ASSERT_EQ(diff.tasks.size(), 2U);
  EXPECT_EQ(diff.tasks[0].task, "new");
  EXPECT_FALSE(diff.tasks[0].in_before);
  EXPECT_FALSE(diff.tasks[0].wall_ns.before.present());
  EXPECT_FALSE(diff.tasks[0].wall_ns.ratio.has_value());
}

TEST(DiffTest, AbsentBeforeIsNotARatioOfZero) {
  RecordForTest before(1000);
  before.Call("load", 0, 200);
  RecordForTest after(1000);
  after.Call("load", 0, 200, 50);
  const Diff diff = Compare(Summarize(before.record()), Summarize(after.record()));
  EXPECT_FALSE(diff.tasks[0].cpu_ns.before.present());
  EXPECT_FALSE(diff.tasks[0].cpu_ns.ratio.has_value());
}

}  // namespace
}  // namespace wf::analysis
