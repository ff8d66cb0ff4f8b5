#include "analysis/top_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/top_for_test.h"

namespace wf::analysis {
namespace {

using profile::kHoldsGil;
using profile::kIdle;
using profile::kOnCpu;
using testing::ElementsAre;
using testing::IsEmpty;

class TopModelTest : public testing::Test, protected TopForTest {
 protected:
  explicit TopModelTest(const TopOptions& options = {}) : TopForTest(options) {}

  // "name own/total of the window, own/total of all", in milliseconds.
  std::vector<std::string> Rows(const TopQuery& query = {}) const {
    std::vector<std::string> rows;
    for (const TopRow& row : model_.Rows(query)) {
      rows.push_back(fmt::format("{} {}/{} {}/{}", row.place->name, row.window.own_ns / kMs, row.window.total_ns / kMs,
                                 row.all.own_ns / kMs, row.all.total_ns / kMs));
    }
    return rows;
  }
};

TEST_F(TopModelTest, OwnTimeIsTheInnermostFunctionsAndTotalTimeThatOfAllAround) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"main", "load"});
  Read(thread, 300, {"main", "work", "inner"});
  EndWindow(1000);
  EXPECT_THAT(Rows(),
              ElementsAre("inner 700/700 700/700", "load 300/300 300/300", "main 0/1000 0/1000", "work 0/700 0/700"));
  EXPECT_EQ(model_.window_ns(), 1000 * kMs);
  EXPECT_EQ(model_.WindowBasisNs({}), 1000 * kMs);
}

TEST_F(TopModelTest, TheWindowIsTheLastPieceAndAllTimeIsKept) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"main", "load"});
  EndWindow(1000);
  Read(thread, 1000, {"main", "work"});
  EndWindow(1500);
  EXPECT_THAT(Rows(), ElementsAre("work 500/500 500/500", "main 0/500 0/1500", "load 0/0 1000/1000"));
  EXPECT_EQ(model_.window_ns(), 500 * kMs);
  EXPECT_EQ(model_.elapsed_ns(), 1500 * kMs);
  EXPECT_EQ(model_.windows(), 2U);
}

TEST_F(TopModelTest, RecursionIsCountedOnce) {
  const uint32_t thread = Thread("main");
  profile::StackTable& table = recorder_.table();
  uint32_t stack = StackOf(table, {"main"});
  profile::Frame frame{.name = table.Intern("walk"), .first_line = 5, .line = 6};
  for (int32_t i = 0; i < 100; ++i) {
    frame.line = 6 + i % 2;
    stack = table.Push(stack, table.AddFrame(frame));
  }
  Read(thread, 0, stack);
  EndWindow(1000);
  EXPECT_THAT(Rows(), ElementsAre("walk 1000/1000 1000/1000", "main 0/1000 0/1000"));
  EXPECT_THAT(Rows({.unit = TopUnit::kLine}),
              ElementsAre("walk 1000/1000 1000/1000", "main 0/1000 0/1000", "walk 0/1000 0/1000"));
}

TEST_F(TopModelTest, EachLineOfAFunctionIsARowAmongLines) {
  const uint32_t thread = Thread("main");
  profile::StackTable& table = recorder_.table();
  const auto at_line = [&table](int32_t line) {
    const profile::Frame frame{.name = table.Intern("f"), .file = table.Intern("f.py"), .first_line = 1, .line = line};
    return table.Push(profile::kEmptyStack, table.AddFrame(frame));
  };
  Read(thread, 0, at_line(3));
  Read(thread, 400, at_line(7));
  EndWindow(1000);
  EXPECT_THAT(Rows(), ElementsAre("f 1000/1000 1000/1000"));
  const std::vector<TopRow> lines = model_.Rows({.unit = TopUnit::kLine});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].place->line, 7);
  EXPECT_EQ(lines[0].window.own_ns, 600 * kMs);
  EXPECT_EQ(lines[1].place->line, 3);
}

TEST_F(TopModelTest, RowsAreSortedByEachColumnAndTheOtherWayRound) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"main", "old"});
  EndWindow(3000);
  Read(thread, 3000, {"main", "new"});
  EndWindow(4000);
  const auto names = [this](TopColumn column, bool reversed = false) {
    std::vector<std::string> sorted;
    for (const TopRow& row : model_.Rows({.column = column, .reversed = reversed})) sorted.push_back(row.place->name);
    return sorted;
  };
  EXPECT_THAT(names(TopColumn::kOwnShare), ElementsAre("new", "main", "old"));
  EXPECT_THAT(names(TopColumn::kTotalShare), ElementsAre("new", "main", "old"));
  EXPECT_THAT(names(TopColumn::kOwnTime), ElementsAre("old", "new", "main"));
  EXPECT_THAT(names(TopColumn::kTotalTime), ElementsAre("main", "old", "new"));
  EXPECT_THAT(names(TopColumn::kTotalTime, true), ElementsAre("new", "old", "main"));
}

TEST_F(TopModelTest, AFilterFindsPartsOfNamesAndFilesInAnyCase) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"main", "Decoder.read"});
  EndWindow(1000);
  EXPECT_THAT(Rows({.filter = "DECODER"}), ElementsAre("Decoder.read 1000/1000 1000/1000"));
  EXPECT_EQ(Rows({.filter = "prog.PY"}).size(), 2U);
  EXPECT_THAT(Rows({.filter = "nothing"}), IsEmpty());
}

TEST_F(TopModelTest, ThreadsHaveFiguresOfTheirOwnAndSharesNeverExceedOne) {
  const uint32_t one = Thread("one");
  const uint32_t two = Thread("two");
  Read(one, 0, {"run", "first"}, kOnCpu | kHoldsGil);
  Read(two, 0, {"run", "second"});
  EndWindow(1000);
  EXPECT_THAT(Rows({.thread = two}), ElementsAre("second 1000/1000 1000/1000", "run 0/1000 0/1000"));
  EXPECT_EQ(model_.WindowBasisNs(two), 1000 * kMs);
  EXPECT_EQ(Rows()[2], "run 0/2000 0/2000");
  EXPECT_EQ(model_.WindowBasisNs({}), 2000 * kMs);
  const std::vector<TopThread> threads = model_.Threads();
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].name, "one");
  EXPECT_EQ(threads[0].pid, 4711);
  EXPECT_EQ(threads[0].window.gil_ns, 1000 * kMs);
  EXPECT_EQ(threads[0].state, kOnCpu | kHoldsGil);
  EXPECT_EQ(threads[1].window.gil_ns, 0);
  EXPECT_EQ(threads[1].window.active_ns, 1000 * kMs);
}

TEST_F(TopModelTest, WaitingThreadsAreListedAndTheirTimeLeftOut) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"main", "work"});
  Read(thread, 250, {"main", "wait"}, kIdle);
  EndWindow(1000);
  EXPECT_THAT(Rows(), ElementsAre("work 250/250 250/250", "main 0/250 0/250"));
  EXPECT_EQ(model_.WindowBasisNs({}), 1000 * kMs);  // a quarter of the time
  ASSERT_EQ(model_.Threads().size(), 1U);
  EXPECT_EQ(model_.Threads()[0].window.active_ns, 250 * kMs);
  EXPECT_EQ(model_.Meta().samples, 1U);
  EXPECT_FALSE(model_.Meta().idle_included);
}

class TopModelWithIdleTest : public TopModelTest {
 protected:
  TopModelWithIdleTest() : TopModelTest({.idle = true}) {}
};

TEST_F(TopModelWithIdleTest, WaitingThreadsCountWhenAskedFor) {
  Read(Thread("main"), 0, {"main", "wait"}, kIdle);
  EndWindow(1000);
  EXPECT_THAT(Rows(), ElementsAre("wait 1000/1000 1000/1000", "main 0/1000 0/1000"));
}

class TopModelOfGilTest : public TopModelTest {
 protected:
  TopModelOfGilTest() : TopModelTest({.gil = true}) {}
};

TEST_F(TopModelOfGilTest, OnlyTimeWithTheLockCounts) {
  const uint32_t one = Thread("one");
  const uint32_t two = Thread("two");
  Read(one, 0, {"python"}, kOnCpu | kHoldsGil);
  Read(two, 0, {"native"}, kOnCpu);
  EndWindow(1000);
  EXPECT_THAT(Rows(), ElementsAre("python 1000/1000 1000/1000"));
}

TEST_F(TopModelTest, AThreadThatEndedIsForgottenAndItsTimeKept) {
  const uint32_t main = Thread("main");
  const uint32_t job = Thread("job");
  Read(main, 0, {"main"});
  Read(job, 0, {"job"});
  EndWindow(1000);
  recorder_.EndThread(job, At(1500));
  EndWindow(2000);
  ASSERT_EQ(model_.Threads().size(), 1U);
  EXPECT_EQ(model_.Threads()[0].name, "main");
  EXPECT_THAT(Rows({.thread = job}), IsEmpty());
  EXPECT_THAT(Rows(), ElementsAre("main 1000/1000 2000/2000", "job 500/500 1500/1500"));
  EXPECT_EQ(model_.window_activity().active_ns, 1500 * kMs);
  EXPECT_EQ(model_.activity().active_ns, 3500 * kMs);
}

TEST_F(TopModelTest, AThreadThatCouldNotBeReadAtFirstIsNotForgotten) {
  const uint32_t thread = Thread("late");
  EndWindow(1000);
  EXPECT_THAT(model_.Threads(), IsEmpty());
  Read(thread, 1500, {"at last"});
  EndWindow(2000);
  ASSERT_EQ(model_.Threads().size(), 1U);
  EXPECT_EQ(model_.Threads()[0].name, "late");
  EXPECT_THAT(Rows(), ElementsAre("at last 500/500 500/500"));
}

TEST_F(TopModelTest, ResetBeginsTheTimesAndCountersAnew) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"old"});
  recorder_.CountMissed(3);
  recorder_.CountRejected("torn");
  EndWindow(1000);
  model_.Reset();
  EXPECT_THAT(Rows(), ElementsAre("old 1000/1000 0/0"));
  EXPECT_EQ(model_.Meta().missed, 0U);
  Read(thread, 1000, {"new"});
  recorder_.CountMissed(1);
  recorder_.CountRejected("torn");
  recorder_.CountRejected("torn");
  EndWindow(3000);
  EXPECT_THAT(Rows(), ElementsAre("new 2000/2000 2000/2000", "old 0/0 0/0"));
  EXPECT_EQ(model_.elapsed_ns(), 2000 * kMs);
  EXPECT_EQ(model_.Meta().missed, 1U);
  EXPECT_THAT(model_.Meta().rejected, ElementsAre(std::pair<const std::string, uint64_t>("torn", 2)));
  EXPECT_EQ(model_.Meta().samples, 1U);
  EXPECT_NEAR(model_.Meta().achieved_rate_hz, 0.5, 0.01);
}

TEST_F(TopModelTest, ResetForgetsWhatIsQuiet) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"quiet"});
  EndWindow(1000);
  Read(thread, 1000, {"busy"});
  EndWindow(2000);
  EndWindow(3000);
  model_.Reset();
  EXPECT_EQ(model_.places().size(), 2U);  // the function and its line
  Read(thread, 3000, {"quiet"});
  EndWindow(4000);
  EXPECT_EQ(Rows()[0], "quiet 1000/1000 1000/1000");
}

TEST_F(TopModelTest, ACopyStandsStillWhileTheModelGoesOn) {
  const uint32_t thread = Thread("main");
  Read(thread, 0, {"first"});
  EndWindow(1000);
  const TopModel paused = model_;
  Read(thread, 1000, {"second"});
  EndWindow(2000);
  EXPECT_THAT(Rows(), ElementsAre("second 1000/1000 1000/1000", "first 0/0 1000/1000"));
  ASSERT_EQ(paused.Rows({}).size(), 1U);
  EXPECT_EQ(paused.Rows({})[0].place->name, "first");
}

class SmallTopModelTest : public TopModelTest {
 protected:
  SmallTopModelTest() : TopModelTest({.most_places = 40}) {}
};

TEST_F(SmallTopModelTest, WhatHasBeenQuietLongestIsForgotten) {
  const uint32_t thread = Thread("main");
  for (int64_t i = 0; i < 100; ++i) {
    Read(thread, i * 1000, {"main", "f" + std::to_string(i)});
    EndWindow(i * 1000 + 1000);
    ASSERT_LE(model_.places().size(), 44U);
  }
  EXPECT_GT(model_.forgotten(), 100U);
  EXPECT_EQ(Rows()[0], "f99 1000/1000 1000/1000");
  EXPECT_EQ(Rows({.column = TopColumn::kTotalTime})[0], "main 0/1000 0/100000");
  EXPECT_THAT(Rows({.filter = "f0"}), IsEmpty());
  Read(thread, 100'000, {"main", "f0"});
  EndWindow(101'000);
  EXPECT_EQ(Rows()[0], "f0 1000/1000 1000/1000");  // met again: from nothing
}

TEST_F(TopModelTest, NumbersThatPointNowhereAreNotFollowed) {
  profile::StackDelta piece = recorder_.Take(At(0));
  piece.frames.push_back({.name = 99'999, .file = 77'777});
  piece.nodes.push_back({.parent = 99'999, .frame = 99'999});
  piece.threads.push_back({0, {.process = 9, .tid = 1, .name = "x"}});
  piece.samples.push_back({.time_ns = 0, .span_ns = kMs, .weight_ns = kMs, .thread = 7, .stack = 0});
  piece.samples.push_back({.time_ns = 0, .span_ns = kMs, .weight_ns = kMs, .thread = 0, .stack = 99'999});
  piece.samples.push_back({.time_ns = 0, .span_ns = -kMs, .weight_ns = -kMs, .thread = 0, .stack = 1});
  model_.Put(piece);
  EXPECT_THAT(Rows(), ElementsAre("<not kept> 1/1 1/1"));
}

}  // namespace
}  // namespace wf::analysis
