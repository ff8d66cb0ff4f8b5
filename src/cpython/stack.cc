#include "cpython/stack.h"

#include <algorithm>
#include <array>

namespace wf::cpython {

std::string_view Name(Reject reason) {
  static constexpr std::array<std::string_view, kRejectCount> kNames = {
      "none", "torn", "unreadable", "bad frame", "bad instruction", "bad code", "thread gone"};
  return kNames.at(static_cast<size_t>(reason));
}

bool Agree(const RawStack& first, const RawStack& second) {
  if (first.broken != second.broken || first.truncated != second.truncated) return false;
  if (first.frames.size() != second.frames.size()) return false;
  if (first.frames.empty()) return true;
  return first.frames[0].IsSamePlace(second.frames[0]) &&
         std::equal(first.frames.begin() + 1, first.frames.end(), second.frames.begin() + 1);
}

namespace {

using Frames = std::vector<RawFrame>;

// Where, in `frames`, the root-most frame of `other` lies; the end when there is none.
Frames::const_reverse_iterator RootOf(const Frames& other, const Frames& frames) {
  if (other.empty()) return frames.rend();
  return std::find_if(frames.rbegin(), frames.rend(),
                      [&](const RawFrame& frame) { return frame.address == other.back().address; });
}

}  // namespace

RawStack CommonRoot(const RawStack& first, const RawStack& second) {
  RawStack common;
  if (first.broken != Reject::kNone || second.broken != Reject::kNone) return common;
  auto a = first.frames.rbegin();
  auto b = second.frames.rbegin();
  common.truncated = first.truncated || second.truncated;
  if (common.truncated) {
    // Only the leaf-most frames are there: they begin where the shallower of the two copies does.
    if (const auto in_first = RootOf(second.frames, first.frames); in_first != first.frames.rend()) {
      a = in_first;
    } else {
      b = RootOf(first.frames, second.frames);
    }
  }
  const auto root = b;
  while (a != first.frames.rend() && b != second.frames.rend() && *a == *b) {
    ++a;
    ++b;
  }
  common.frames.assign(b.base(), root.base());
  if (a != first.frames.rend() && b != second.frames.rend() && a->IsSamePlace(*b)) {
    common.frames.insert(common.frames.begin(), *b);
  }
  return common;
}

}  // namespace wf::cpython
