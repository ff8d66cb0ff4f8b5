// How StackReader makes sure that what it copied is true: a second copy of whatever may have run, with sound code.
#include <algorithm>
#include <utility>

#include "cpython/stack_reader.h"

namespace wf::cpython {

// Whether anything had to be read for it.
bool StackReader::RefreshCodes(bool unchanged) {
  addresses_.clear();
  uint64_t last = 0;
  for (const Slot* slot : active_) {
    if (slot->settled) continue;
    const auto& frames = slot->stack.frames;
    const size_t sound = unchanged ? translator_.StillSound(frames, slot->shown) : 0;
    for (size_t i = 0; i + sound < frames.size(); ++i) {
      if (frames[i].code == kCollectorMark) continue;
      if (frames[i].code != last) addresses_.push_back(frames[i].code);
      last = frames[i].code;
    }
  }
  return codes_.Refresh(memory_, addresses_, unchanged);
}

// The counters were read behind the stacks, but for what of these was read on demand.
bool StackReader::IsCodeSame() {
  return heads_.IsCodeSame(memory_) &&
         std::none_of(active_.begin(), active_.end(), [](const Slot* slot) { return slot->mirror.has_read_more(); });
}

void StackReader::Settle() {
  bool has_read = RefreshCodes(IsCodeSame());
  codes_stood_ = !has_read;
  if (active_.empty()) return;
  // Second copies count that were made after the codes were right.
  bool settled = SettleFirst(!has_read && seconds_planned_ == samples_, options_.attempts <= 1);
  for (int attempt = 2; attempt <= options_.attempts && !settled; ++attempt) {
    CopyBoth();
    has_read = RefreshCodes(IsCodeSame());
    if (has_read) CopyAgain();
    settled = TakeSeconds(attempt == options_.attempts);
  }
}

// Where a shim lies below each call from C, WalkStack sees it.
bool StackReader::IsDetached(const RawStack& stack) const {
  if (runtime_.layout.frame.first_shim != kAbsent || stack.frames.empty() || stack.truncated) return false;
  const auto* code = codes_.Find(stack.frames.back().code);
  return code != nullptr && (*code)->suspends;
}

// Copies the stacks of the wanted threads once more, and the GILs before them, in one batch.
void StackReader::CopyAgain() {
  heads_.PlanAgain(&batch_);
  batch_mirrors_.push_back(&heads_.again_mirror());
  for (Slot* slot : wanted_) {
    slot->second.PlanLike(slot->mirror, &batch_);
    batch_mirrors_.push_back(&slot->second);
  }
  Add(heads_.counters_mirror());
  ReadBatch();
  heads_.ReadAgain(memory_);
}

// Whether the batch of this sample had the second copies of all that are wanted.
bool StackReader::HasSeconds() const {
  return heads_.IsPlannedAgain() && std::all_of(wanted_.begin(), wanted_.end(),
                                                [&](const Slot* slot) { return slot->second_planned == samples_; });
}

// Whether the thread may have run since its first copy, if it is not the holder.
bool StackReader::MayHaveRun(const Slot& slot) {
  if (!heads_.gils_now()[slot.gil].state.IsSameHold(slot.before)) return true;
  // Then the collector neither began nor ended on its frames, unless that was just when both were read.
  const uint64_t before = heads_.interpreters()[slot.interpreter].collecting_frame;
  const uint64_t after = heads_.CollectingFrameAfter(memory_, slot.interpreter);
  return before != after && std::any_of(slot.stack.frames.begin(), slot.stack.frames.end(), [&](const auto& frame) {
           return frame.code == kCollectorMark || frame.address == after;
         });
}

// Copies again whatever may have run since its first copy. True when all threads are settled.
bool StackReader::SettleFirst(bool has_seconds, bool last) {
  // First the holders; where no GIL was switched meanwhile, nothing else needs a second look.
  Choose([](const Slot& slot) { return slot.before.holder == slot.thread; });
  if (!has_seconds || !HasSeconds()) {
    CopyAgain();
  } else if (seconds_have_gils_) {
    heads_.ReadAgain(memory_);
  }
  bool settled = TakeSeconds(last);
  Choose([&](const Slot& slot) { return slot.attempt_copied != samples_ && MayHaveRun(slot); });
  for (Slot* slot : active_) slot->settled |= slot->attempt_copied != samples_ && !MayHaveRun(*slot);
  if (wanted_.empty()) return settled;
  CopyAgain();
  return TakeSeconds(last) && settled;
}

template <typename Wanted>
void StackReader::Choose(const Wanted& wanted) {
  wanted_.clear();
  for (Slot* slot : active_) {
    if (!slot->settled && wanted(*slot)) wanted_.push_back(slot);
  }
}

// Two new copies of what is not settled, in one batch.
void StackReader::CopyBoth() {
  Choose([](const Slot&) { return true; });
  heads_.PlanAgain(&batch_);
  batch_mirrors_.push_back(&heads_.again_mirror());
  for (Slot* slot : wanted_) Add(slot->mirror);
  Add(heads_.counters_mirror());
  for (Slot* slot : wanted_) {
    slot->second.PlanLike(slot->mirror, &batch_);
    batch_mirrors_.push_back(&slot->second);
  }
  ReadBatch();
  heads_.ReadAgain(memory_);
  for (Slot* slot : wanted_) {
    slot->before = heads_.gils_now()[slot->gil].state;
    const uint64_t collecting = heads_.CollectingFrameAgain(memory_, slot->interpreter);
    Walk(slot->thread, collecting, slot->mirror, &slot->identity, &slot->stack);
  }
}

// Of the wanted threads. True when these are settled.
bool StackReader::TakeSeconds(bool last) {
  bool all = true;
  for (Slot* slot : wanted_) {
    slot->attempt_copied = samples_;
    TakeSecond(*slot, last);
    all &= slot->settled;
  }
  return all;
}

// Whether the thread ran between its copies: its innermost frame, which nobody else writes to, is not what it was.
bool StackReader::HasMoved(const Slot& slot, const RawStack& again) {
  const auto& first = slot.stack.frames;
  if (first.empty() || again.frames.empty() || first[0] != again.frames[0]) return first != again.frames;
  const auto before = slot.mirror.Copied(first[0].address, runtime_.layout.frame.size);
  const auto after = slot.second.Copied(first[0].address, runtime_.layout.frame.size);
  return before.size() == after.size() && !std::equal(before.begin(), before.end(), after.begin());
}

void StackReader::TakeSecond(Slot& slot, bool last) {
  Identity identity;
  // Read behind the first copy: that it did not change meanwhile says that the mark in the first one is true.
  const uint64_t collecting = heads_.CollectingFrameAfter(memory_, slot.interpreter);
  Walk(slot.thread, collecting, slot.second, &identity, &again_);
  const bool detached = IsDetached(again_);
  slot.seen_attached |= !detached;
  slot.has_moved |= HasMoved(slot, again_);
  // What is broken while frames are pushed and popped is whole a moment later; what always was broken stays so.
  const bool may_heal = again_.broken != Reject::kNone && sample_.threads[slot.index].reject == Reject::kNone && !last;
  slot.settled = identity == slot.identity && Agree(slot.stack, again_) && !may_heal &&
                 (!detached || (last && !slot.seen_attached));
  if (!slot.settled && last) again_ = identity == slot.identity ? CommonRoot(slot.stack, again_) : RawStack();
  if (!slot.settled) std::swap(slot.mirror, slot.second);
  std::swap(slot.stack, again_);
  slot.identity = identity;
}

}  // namespace wf::cpython
