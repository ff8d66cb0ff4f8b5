#include "sampler/merge_stacks.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::sampler {
namespace {

// Python frames as p0, p1, …, native ones as n0, n1, …
std::string Merged(const std::vector<PythonPart>& python, const std::vector<NativePart>& native, bool whole = true) {
  std::string text;
  for (const MergedPart& part : MergeStacks(python, native, whole)) {
    text += (text.empty() ? "" : " ") + std::string(part.is_python ? "p" : "n") + std::to_string(part.index);
  }
  return text;
}

const NativePart kEval = {.is_eval = true};
const NativePart kOther = {};
const PythonPart kEntry = {.is_entry = true};
const PythonPart kInlined = {};

TEST(MergeStacks, EachPythonFrameTakesThePlaceOfItsCall) {
  EXPECT_EQ(Merged({kEntry, kEntry}, {kOther, kEval, kOther, kEval, kOther}), "n0 p0 n2 p1 n4");
}

TEST(MergeStacks, FramesThatOneCallRunsStayTogether) {
  EXPECT_EQ(Merged({kInlined, kEntry, kInlined, kInlined, kEntry}, {kOther, kEval, kOther, kEval, kOther}),
            "n0 p0 p1 n2 p2 p3 p4 n4");
}

TEST(MergeStacks, ACallThatHasNoFrameYetIsShownAsItIs) {
  EXPECT_EQ(Merged({kEntry}, {kEval, kOther, kEval}), "n0 n1 p0");
}

TEST(MergeStacks, OfAStackWithoutRootCallsAreCountedFromTheLeaf) {
  EXPECT_EQ(Merged({kEntry, kEntry, kEntry}, {kOther, kEval, kOther}, /*whole=*/false), "n0 p0 n2 p1 p2");
  EXPECT_EQ(Merged({kInlined, kInlined}, {kOther, kEval, kOther}, /*whole=*/false), "n0 p0 p1 n2");
}

TEST(MergeStacks, AnchorsTellTheCallWhateverItsName) {
  const PythonPart first = {.is_entry = true, .anchor = 0x110};
  const PythonPart second = {.is_entry = true, .anchor = 0x230};
  const std::vector<NativePart> native = {{0x80, 0x100, true}, {0x100, 0x180}, {0x180, 0x200, true}, {0x200, 0x280}};
  EXPECT_EQ(Merged({first, second}, native), "n0 p0 n2 p1");
  EXPECT_EQ(Merged({first, second}, native, /*whole=*/false), "n0 p0 n2 p1");
}

TEST(MergeStacks, OneKindAloneIsTheWholeStack) {
  EXPECT_EQ(Merged({}, {kOther, kOther}), "n0 n1");
  EXPECT_EQ(Merged({kEntry, kEntry}, {}), "p0 p1");
  EXPECT_EQ(Merged({}, {}), "");
}

TEST(IsEvalName, TheLoopAndItsPartsAreKnown) {
  EXPECT_TRUE(IsEvalName("_PyEval_EvalFrameDefault"));
  EXPECT_TRUE(IsEvalName("_TAIL_CALL_CALL_PY_EXACT_ARGS"));
  EXPECT_FALSE(IsEvalName("_PyEval_Vector"));
  EXPECT_FALSE(IsEvalName(""));
}

}  // namespace
}  // namespace wf::sampler
