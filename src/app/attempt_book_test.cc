#include "app/attempt_book.h"

#include <gtest/gtest.h>

namespace wf::app {
namespace {

context::ThreadEntry Met(const base::RunId& run, uint64_t attempt) {
  context::ThreadEntry entry;
  entry.run = run;
  entry.attempt = attempt;
  entry.node = attempt * 10;
  return entry;
}

TEST(AttemptBook, AttemptsOfTwoRunsThatCountAlikeAreTwo) {
  AttemptBook book(AttemptBook::Detail::kAttempts);
  const base::RunId a = base::RunId::Make();
  const base::RunId b = base::RunId::Make();
  EXPECT_EQ(book.NumberOf(Met(a, 1), "load").number, 1U);
  EXPECT_EQ(book.NumberOf(Met(b, 1), "load").number, 2U);
  const AttemptBook::Found again = book.NumberOf(Met(a, 1), "load");
  EXPECT_EQ(again.number, 1U);
  EXPECT_FALSE(again.is_new);
  const profile::StackAttempt row = book.Row(2, Met(b, 1), "load");
  EXPECT_EQ(row.id, 2U);
  EXPECT_EQ(row.run, b);
  EXPECT_EQ(row.attempt, 1U);
  EXPECT_EQ(row.node, 10U);
  EXPECT_EQ(row.task, "load");
}

TEST(AttemptBook, WhereOnlyTasksAreAskedForAllAttemptsOfOneHaveOneNumber) {
  AttemptBook book(AttemptBook::Detail::kTasks);
  const base::RunId run = base::RunId::Make();
  EXPECT_EQ(book.NumberOf(Met(run, 1), "load").number, 1U);
  EXPECT_EQ(book.NumberOf(Met(run, 2), "train").number, 2U);
  EXPECT_EQ(book.NumberOf(Met(base::RunId::Make(), 3), "load").number, 1U);
  EXPECT_TRUE(book.Row(1, Met(run, 1), "load").run.IsNil());
}

TEST(AttemptBook, ATaskWhoseNameIsNotToldIsSaidToBeUnknown) {
  for (const auto detail : {AttemptBook::Detail::kTasks, AttemptBook::Detail::kAttempts}) {
    AttemptBook book(detail);
    const context::ThreadEntry entry = Met(base::RunId::Make(), 1);
    EXPECT_TRUE(book.NumberOf(entry, "").is_new);
    EXPECT_EQ(book.Row(1, entry, "").task, AttemptBook::kUnknownTask);
  }
}

TEST(AttemptBook, NamesAreMadeValid) {
  AttemptBook book(AttemptBook::Detail::kTasks);
  EXPECT_EQ(book.Row(1, Met(base::RunId::Make(), 1), "a\xff").task, "a\xEF\xBF\xBD");
}

TEST(AttemptBook, TooManyNamesStandTogether) {
  AttemptBook book(AttemptBook::Detail::kTasks);
  const context::ThreadEntry entry = Met(base::RunId::Make(), 1);
  uint64_t last = 0;
  for (int i = 0; i < 10'000; ++i) last = book.NumberOf(entry, "task " + std::to_string(i)).number;
  EXPECT_LT(last, 5'000U);
  EXPECT_EQ(book.NumberOf(entry, "one more").number, last);
  EXPECT_EQ(book.Row(last, entry, "one more").task, AttemptBook::kUnknownTask);
  EXPECT_EQ(book.NumberOf(entry, "task 1").number, 2U);
}

TEST(AttemptBook, AttemptsThatAreMetAgainAndAgainAreNotForgotten) {
  AttemptBook book(AttemptBook::Detail::kAttempts);
  const base::RunId run = base::RunId::Make();
  const uint64_t number = book.NumberOf(Met(run, 1), "serve").number;
  for (uint64_t other = 2; other < 200'000; ++other) {
    EXPECT_TRUE(book.NumberOf(Met(run, other), "load").is_new);
    if (other % 1'000 == 0) {
      EXPECT_EQ(book.NumberOf(Met(run, 1), "serve").number, number);
    }
  }
}

}  // namespace
}  // namespace wf::app
