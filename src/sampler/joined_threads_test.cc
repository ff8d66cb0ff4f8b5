#include "sampler/joined_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace wf::sampler {
namespace {

using cpython::Reject;
using testing::ElementsAre;
using testing::IsEmpty;

ThreadSample Part(int32_t tid, int64_t interpreter, std::initializer_list<const char*> frames) {
  ThreadSample thread;
  thread.tid = tid;
  thread.name = "thread in " + std::to_string(interpreter);
  thread.state = 'S';
  thread.interpreter = interpreter;
  thread.stack.interpreter = interpreter;
  thread.stack.state_id = static_cast<uint64_t>(100 + interpreter);
  thread.stack.version = 5;
  for (const char* name : frames) thread.stack.frames.push_back({.code = cpython::MakeMarker(name)});
  return thread;
}

std::vector<std::string> Names(const ThreadSample& thread) {
  std::vector<std::string> names;
  for (const cpython::Frame& frame : thread.stack.frames) names.push_back(frame.code->name);
  return names;
}

ThreadSample Joined(const ThreadSample& outer, const ThreadSample& inner) {
  std::vector<ThreadSample> threads = {outer, inner};
  EXPECT_TRUE(ThreadJoiner().Join(&threads));
  EXPECT_EQ(threads.size(), 1);
  return threads[0];
}

TEST(ThreadJoiner, WhatRunsInASubinterpreterStandsOnTheCallThatEnteredIt) {
  const ThreadSample thread = Joined(Part(7, 0, {"enter", "main"}), Part(7, 2, {"leaf", "root"}));
  EXPECT_THAT(Names(thread), ElementsAre("leaf", "root", "<interpreter 2>", "enter", "main"));
  EXPECT_EQ(thread.interpreter, 2);
  EXPECT_EQ(thread.stack.interpreter, 0);
  EXPECT_EQ(thread.stack.state_id, 100);
  EXPECT_EQ(thread.name, "thread in 0");
  EXPECT_EQ(thread.stack.version, 0);
}

TEST(ThreadJoiner, ThreeInterpretersAreJoinedInTheOrderOfTheirIds) {
  std::vector<ThreadSample> threads = {Part(7, 2, {"c"}), Part(7, 0, {"a"}), Part(7, 1, {"b"})};
  EXPECT_TRUE(ThreadJoiner().Join(&threads));
  ASSERT_EQ(threads.size(), 1);
  EXPECT_THAT(Names(threads[0]), ElementsAre("c", "<interpreter 2>", "b", "<interpreter 1>", "a"));
}

TEST(ThreadJoiner, OtherThreadsStayAsTheyAreAndInTheirOrder) {
  std::vector<ThreadSample> threads = {Part(1, 0, {"x"}), Part(7, 2, {"c"}), Part(0, 0, {"y"}),
                                       Part(0, 1, {"z"}), Part(7, 0, {"a"}), Part(8, 1, {"w"})};
  EXPECT_TRUE(ThreadJoiner().Join(&threads));
  std::vector<std::vector<std::string>> names;
  for (const ThreadSample& thread : threads) names.push_back(Names(thread));
  EXPECT_THAT(names, ElementsAre(ElementsAre("x"), ElementsAre("c", "<interpreter 2>", "a"), ElementsAre("y"),
                                 ElementsAre("z"), ElementsAre("w")));
  EXPECT_FALSE(ThreadJoiner().Join(&threads));
}

TEST(ThreadJoiner, AnInterpreterThatTheThreadIsNotInAddsNothing) {
  const ThreadSample thread = Joined(Part(7, 0, {"make", "main"}), Part(7, 1, {}));
  EXPECT_THAT(Names(thread), ElementsAre("make", "main"));
  EXPECT_EQ(thread.interpreter, 0);
}

TEST(ThreadJoiner, TheSameInterpreterHasTheSameMarker) {
  ThreadJoiner joiner;
  std::vector<ThreadSample> first = {Part(7, 0, {"a"}), Part(7, 1, {"b"})};
  std::vector<ThreadSample> second = first;
  joiner.Join(&first);
  joiner.Join(&second);
  EXPECT_EQ(first[0].stack.frames[1].code, second[0].stack.frames[1].code);
  EXPECT_TRUE(first[0].stack.frames[1].code->is_marker);
}

TEST(ThreadJoiner, NothingIsPutOnWhatIsLeftOfATornStack) {
  ThreadSample outer = Part(7, 0, {"main"});
  outer.stack.reject = Reject::kTorn;
  EXPECT_THAT(Names(Joined(outer, Part(7, 1, {"leaf"}))), ElementsAre("main"));
  outer.stack.frames.clear();
  const ThreadSample nothing = Joined(outer, Part(7, 1, {"leaf"}));
  EXPECT_THAT(Names(nothing), IsEmpty());
  EXPECT_EQ(nothing.stack.reject, Reject::kTorn);
}

TEST(ThreadJoiner, ATornInnerStackKeepsItsRootPartAndSaysSo) {
  ThreadSample inner = Part(7, 1, {"root"});
  inner.stack.reject = Reject::kTorn;
  const ThreadSample thread = Joined(Part(7, 0, {"main"}), inner);
  EXPECT_THAT(Names(thread), ElementsAre("root", "<interpreter 1>", "main"));
  EXPECT_EQ(thread.stack.reject, Reject::kTorn);
}

TEST(ThreadJoiner, OfAStackThatIsTooDeepTheLeafMostFramesStay) {
  ThreadSample inner = Part(7, 1, {"leaf", "deep"});
  inner.stack.truncated = true;
  const ThreadSample thread = Joined(Part(7, 0, {"main"}), inner);
  EXPECT_THAT(Names(thread), ElementsAre("leaf", "deep"));
  EXPECT_TRUE(thread.stack.truncated);
}

TEST(ThreadJoiner, AThreadThatHoldsTheOuterGilHasLeftTheInnerInterpreter) {
  ThreadSample outer = Part(7, 0, {"after", "main"});
  outer.stack.holds_gil = true;
  EXPECT_THAT(Names(Joined(outer, Part(7, 1, {"leaf"}))), ElementsAre("after", "main"));
}

TEST(ThreadJoiner, ItIsBusyAndHoldsTheGilWhereOneOfItsPartsIs) {
  ThreadSample inner = Part(7, 1, {"leaf"});
  inner.active = true;
  inner.state = 'R';
  inner.stack.holds_gil = true;
  const ThreadSample thread = Joined(Part(7, 0, {"main"}), inner);
  EXPECT_TRUE(thread.active);
  EXPECT_EQ(thread.state, 'R');
  EXPECT_TRUE(thread.stack.holds_gil);
}

}  // namespace
}  // namespace wf::sampler
