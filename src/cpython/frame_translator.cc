#include "cpython/frame_translator.h"

#include <algorithm>

namespace wf::cpython {

namespace {

// How many frames both share at their root ends.
size_t SameAtRoot(const std::vector<RawFrame>& a, const std::vector<RawFrame>& b) {
  return static_cast<size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
}

}  // namespace

size_t FrameTranslator::StillSound(const std::vector<RawFrame>& raw, const Translation& done) const {
  return done.is_whole && done.epoch == codes_.epoch() ? SameAtRoot(raw, done.raw) : 0;
}

bool FrameTranslator::Translate(const std::vector<RawFrame>& raw, std::vector<Frame>* frames, Translation* done) {
  const bool usable = done->is_whole && done->generation == codes_.generation();
  const size_t same = usable ? SameAtRoot(raw, done->raw) : 0;
  done->epoch = codes_.epoch();
  if (usable && same == raw.size() && same == done->raw.size()) return false;
  // The root-most frames stay; what lies before them is made room for, or dropped.
  const size_t fresh = raw.size() - same;
  const size_t old = frames->size() - same;
  const auto begin = frames->begin();
  if (fresh < old) frames->erase(begin, begin + static_cast<std::ptrdiff_t>(old - fresh));
  if (fresh > old) frames->insert(begin, fresh - old, Frame());
  done->reject = Reject::kNone;
  bool all_good = true;
  size_t made = 0;
  for (size_t i = 0; i < fresh; ++i) {
    const Made how = Make(raw[i], &(*frames)[made], &done->reject);
    all_good &= how == Made::kGood;
    if (how != Made::kNotBegun) ++made;
  }
  frames->erase(frames->begin() + static_cast<std::ptrdiff_t>(made),
                frames->begin() + static_cast<std::ptrdiff_t>(fresh));
  done->raw.assign(raw.begin(), raw.end());
  done->is_whole = all_good;
  done->generation = codes_.generation();
  return true;
}

FrameTranslator::Made FrameTranslator::Make(const RawFrame& raw, Frame* frame, Reject* reject) {
  constexpr uint8_t kOwnedByGenerator = 1;
  const auto fail = [&](Reject reason) {
    if (*reject == Reject::kNone) *reject = reason;
    frame->code = nullptr;
    return Made::kBad;
  };
  frame->address = raw.address;
  frame->line = 0;
  frame->is_entry = raw.is_entry;
  if (raw.code == kCollectorMark) {
    frame->code = collector_;
    return Made::kGood;
  }
  const std::shared_ptr<const Code>* const code = codes_.Find(raw.code);
  if (code == nullptr) return fail(Reject::kBadCode);
  if (frame->code != *code) frame->code = *code;
  const auto offset = static_cast<int64_t>(raw.instruction - raw.code) - frame->code->begin;
  // As CPython does itself (_PyFrame_IsIncomplete): such a frame is still being set up.
  const bool begun =
      frame->code->begin == 0 || raw.owner == kOwnedByGenerator || offset >= frame->code->first_traceable;
  if (!begun) return Made::kNotBegun;
  return SetLine(raw, frame) ? Made::kGood : fail(Reject::kBadInstruction);
}

bool FrameTranslator::SetLine(const RawFrame& raw, Frame* frame) {
  const Code& code = *frame->code;
  int64_t offset = 0;
  if (code.begin == 0) {
    offset = static_cast<int64_t>(raw.instruction) * layout_.frame.instruction_bytes;
  } else {
    offset = static_cast<int64_t>(raw.instruction - raw.code) - code.begin;
    if (offset < -2 || offset >= code.bytes) return false;
  }
  frame->line = LineAt(code, offset);
  return true;
}

// A line table is read from its beginning; most places come again.
int32_t FrameTranslator::LineAt(const Code& code, int64_t offset) {
  Line& known = lines_[(code.id * 31 + static_cast<uint64_t>(offset) / 2) % kLines];
  if (known.code != code.id || known.offset != offset) known = {code.id, offset, code.LineAt(offset)};
  return known.line;
}

}  // namespace wf::cpython
