#include "cpython/stack_reader.h"

#include <algorithm>

namespace wf::cpython {
namespace {

// Reads in one batch what several mirrors planned, in this order.
void ReadBatch(MemoryReader& memory, std::vector<Segment>& batch, const std::vector<Mirror*>& mirrors) {
  memory.Read(batch);
  size_t at = 0;
  for (Mirror* mirror : mirrors) {
    mirror->Accept(std::span(batch).subspan(at));
    at += mirror->planned_segments();
  }
}

}  // namespace

StackReader::StackReader(MemoryReader& memory, const Runtime& runtime, const StackReaderOptions& options)
    : memory_(memory), runtime_(runtime), options_(options), codes_(runtime.layout, runtime.code_type) {}

void StackReader::FetchPlanned() {
  batch_.clear();
  std::vector<Mirror*> mirrors = {&heads_};
  heads_.Plan(&batch_);
  for (auto& [thread, slot] : slots_) {
    slot.head.Plan(&batch_);
    mirrors.push_back(&slot.head);
    if (slot.reused) continue;  // it slept; it will most likely go on sleeping
    slot.mirror.Plan(&batch_);
    mirrors.push_back(&slot.mirror);
  }
  ReadBatch(memory_, batch_, mirrors);
}

void StackReader::Read(Sample* sample) {
  ++samples_;
  sample->alive = false;
  sample->complete = true;
  sample->threads.clear();
  gils_.clear();
  interpreters_.clear();
  counters_.clear();
  FetchPlanned();
  sample->alive = ListThreads(sample);
  std::erase_if(slots_, [&](const auto& entry) { return entry.second.last_seen != samples_; });
  ReuseOrWalk();
  Settle();
  Finish(sample);
}

void StackReader::ReuseOrWalk() {
  batch_.clear();
  std::vector<Mirror*> woken;
  for (auto& [thread, slot] : slots_) {
    const bool slept = slot.has_known && slot.before.IsSameHold(slot.known_gil) && slot.before.holder != thread &&
                       slot.known.state_id == slot.identity.state_id;
    if (slot.reused && !slept) {
      slot.mirror.Plan(&batch_);
      woken.push_back(&slot.mirror);
    }
    slot.reused = slot.settled = slept;
  }
  if (!woken.empty()) ReadBatch(memory_, batch_, woken);
  for (auto& [thread, slot] : slots_) {
    if (slot.reused) continue;
    slot.stack = Walk(thread, slot.mirror, &slot.identity);
    slot.seen_attached = false;
  }
}

StackReader::GilState StackReader::ReadGil(uint64_t address, Mirror& mirror) {
  const auto& at = runtime_.layout.gil;
  GilState state;
  const auto holder = mirror.Get<uint64_t>(memory_, address + at.last_holder);
  const auto switches = mirror.Get<uint64_t>(memory_, address + at.switch_number);
  const auto locked = mirror.Get<int32_t>(memory_, address + at.locked);
  if (!holder || !switches || !locked) return state;
  state = {true, *holder, *switches, *locked == 1};
  return state;
}

StackReader::Identity StackReader::ReadIdentity(uint64_t thread, Mirror& mirror) {
  const auto& at = runtime_.layout.thread;
  Identity identity;
  identity.state_id = mirror.Get<uint64_t>(memory_, thread + at.id).value_or(0);
  identity.pthread_id = mirror.Get<uint64_t>(memory_, thread + at.thread_id).value_or(0);
  if (at.native_thread_id != kAbsent) {
    identity.native_id = mirror.Get<uint64_t>(memory_, thread + at.native_thread_id).value_or(0);
  }
  return identity;
}

RawStack StackReader::Walk(uint64_t thread, Mirror& mirror, Identity* identity) {
  mirror.Find(memory_, thread, runtime_.layout.thread.size);  // all of it at one moment
  *identity = ReadIdentity(thread, mirror);
  return WalkStack(memory_, mirror, runtime_.layout, thread, options_.most_frames);
}

bool StackReader::ListThreads(Sample* sample) {
  const Layout& at = runtime_.layout;
  auto interpreter = heads_.Get<uint64_t>(memory_, runtime_.address + at.runtime.interpreters_head);
  if (!interpreter || *interpreter == 0) return false;
  for (size_t i = 0; i < kMostInterpreters && *interpreter != 0; ++i) {
    if (!IsPlausiblePointer(*interpreter) || !ListThreadsOf(*interpreter, sample)) {
      sample->complete = false;
      return i > 0;
    }
    interpreter = heads_.Get<uint64_t>(memory_, *interpreter + at.interpreter.next);
    if (!interpreter) break;
  }
  if (!interpreter || *interpreter != 0) sample->complete = false;
  return true;
}

bool StackReader::ListThreadsOf(uint64_t interpreter, Sample* sample) {
  const Layout& at = runtime_.layout;
  uint64_t gil = runtime_.address + at.runtime.gil;
  if (at.interpreter.gil != kAbsent) gil = heads_.Get<uint64_t>(memory_, interpreter + at.interpreter.gil).value_or(0);
  if (!gils_.contains(gil)) gils_[gil] = ReadGil(gil, heads_);
  const auto id = heads_.Get<int64_t>(memory_, interpreter + at.interpreter.id);
  if (!id) return false;
  interpreters_[*id] = interpreter;
  if (at.interpreter.code_counter != kAbsent) {
    counters_.push_back(heads_.Get<uint32_t>(memory_, interpreter + at.interpreter.code_counter).value_or(0));
  }
  auto thread = heads_.Get<uint64_t>(memory_, interpreter + at.interpreter.threads_head);
  while (thread && *thread != 0 && IsPlausiblePointer(*thread) && sample->threads.size() < kMostThreads) {
    Slot& slot = slots_[*thread];
    if (slot.last_seen == samples_) break;  // a ring
    slot.head.Find(memory_, *thread, at.thread.size);
    const auto owner = slot.head.Get<uint64_t>(memory_, *thread + at.thread.interpreter);
    if (owner != interpreter) break;  // freed meanwhile: the links behind it are of no use
    slot.last_seen = samples_;
    slot.gil = gil;
    slot.before = gils_[gil];
    ThreadStack& entry = sample->threads.emplace_back();
    entry.thread = *thread;
    entry.interpreter = *id;
    slot.identity = ReadIdentity(*thread, slot.head);
    thread = slot.head.Get<uint64_t>(memory_, *thread + at.thread.next);
  }
  if (!thread || *thread != 0) sample->complete = false;
  return true;
}

void StackReader::RefreshCodes(bool unchanged) {
  std::vector<uint64_t> addresses;
  for (const auto& [thread, slot] : slots_) {
    if (slot.settled) continue;
    for (const RawFrame& frame : slot.stack.frames) addresses.push_back(frame.code);
  }
  codes_.Refresh(memory_, addresses, unchanged);
}

void StackReader::Settle() {
  // A counter that overflowed is zero and stays so; it then says nothing.
  const bool told = !counters_.empty() && std::find(counters_.begin(), counters_.end(), 0) == counters_.end();
  RefreshCodes(told && counters_ == last_counters_);
  last_counters_ = counters_;
  for (int attempt = 1; attempt <= options_.attempts; ++attempt) {
    if (SettleOnce(attempt == options_.attempts)) return;
    RefreshCodes(false);
  }
}

bool StackReader::IsDetached(const RawStack& stack) const {
  if (stack.frames.empty() || stack.truncated) return false;
  const auto code = codes_.Find(stack.frames.back().code);
  return code != nullptr && code->suspends;
}

// Copies the stacks of these threads once more, and the GILs before them, in one batch.
std::map<uint64_t, StackReader::GilState> StackReader::CopyAgain(const std::vector<uint64_t>& threads,
                                                                 std::map<uint64_t, Second>* copies) {
  batch_.clear();
  Mirror heads;
  const auto& at = runtime_.layout.gil;
  for (const auto& [gil, state] : gils_) heads.Want(gil + at.last_holder, at.switch_number + 8 - at.last_holder);
  heads.Plan(&batch_);
  std::vector<Mirror*> mirrors = {&heads};
  for (const uint64_t thread : threads) {
    Mirror& mirror = (*copies)[thread].mirror;
    mirror.PlanLike(slots_.at(thread).mirror, &batch_);
    mirrors.push_back(&mirror);
  }
  ReadBatch(memory_, batch_, mirrors);
  std::map<uint64_t, GilState> now;
  for (const auto& [gil, state] : gils_) now[gil] = ReadGil(gil, heads);
  for (const uint64_t thread : threads) (*copies)[thread].before = now[slots_.at(thread).gil];
  return now;
}

// Copies again whatever may have run since its last copy. True when all threads are settled.
bool StackReader::SettleOnce(bool last) {
  std::map<uint64_t, Second> copies;
  std::vector<uint64_t> wanted;
  const auto choose = [&](const auto& may_have_run) {
    wanted.clear();
    for (const auto& [thread, slot] : slots_) {
      if (!slot.settled && !copies.contains(thread) && may_have_run(thread, slot)) wanted.push_back(thread);
    }
  };
  // First the holders; where no GIL was switched meanwhile, nothing else needs a second look.
  choose([&](uint64_t thread, const Slot& slot) { return slot.before.holder == thread; });
  gils_ = CopyAgain(wanted, &copies);
  const auto switched = [&](uint64_t, const Slot& slot) { return !gils_[slot.gil].IsSameHold(slot.before); };
  choose(switched);
  if (!wanted.empty()) gils_ = CopyAgain(wanted, &copies);
  bool all = true;
  for (auto& [thread, slot] : slots_) {
    if (slot.settled) continue;
    const auto again = copies.find(thread);
    if (again == copies.end()) {
      slot.settled = !switched(thread, slot);
    } else {
      Identity identity;
      RawStack stack = Walk(thread, again->second.mirror, &identity);
      slot.seen_attached |= !IsDetached(stack);
      slot.settled = identity == slot.identity && Agree(slot.stack, stack) &&
                     (!IsDetached(stack) || (last && !slot.seen_attached));
      if (!slot.settled && last) stack = identity == slot.identity ? CommonRoot(slot.stack, stack) : RawStack();
      slot.stack = std::move(stack);
      slot.identity = identity;
      slot.mirror = std::move(again->second.mirror);
      slot.before = again->second.before;
    }
    all &= slot.settled;
  }
  return all;
}

void StackReader::Finish(Sample* sample) {
  for (ThreadStack& thread : sample->threads) {
    const auto found = slots_.find(thread.thread);
    if (found == slots_.end()) continue;
    FinishSlot(found->second, &thread);
  }
}

void StackReader::FinishSlot(Slot& slot, ThreadStack* thread) {
  if (slot.reused) {
    *thread = slot.known;
    thread->unchanged = true;
    return;
  }
  thread->state_id = slot.identity.state_id;
  thread->pthread_id = slot.identity.pthread_id;
  thread->native_id = slot.identity.native_id;
  const GilState& gil = gils_[slot.gil];
  thread->holds_gil = gil.locked && gil.holder == thread->thread;
  if (!slot.settled) thread->reject = Reject::kTorn;
  if (slot.stack.broken != Reject::kNone) thread->reject = slot.stack.broken;
  thread->truncated = slot.stack.truncated;
  Translate(slot.stack, thread);
  if (thread->reject != Reject::kNone) ++rejects_.at(static_cast<size_t>(thread->reject));
  slot.has_known = thread->reject == Reject::kNone && slot.before.holder != thread->thread;
  if (!slot.has_known) return;
  slot.known = *thread;
  slot.known.holds_gil = false;
  slot.known_gil = slot.before;
}

void StackReader::Translate(const RawStack& raw, ThreadStack* thread) {
  constexpr uint8_t kOwnedByGenerator = 1;
  thread->frames.reserve(raw.frames.size());
  for (const RawFrame& from : raw.frames) {
    Frame frame;
    frame.address = from.address;
    frame.code = codes_.Find(from.code);
    if (frame.code == nullptr) {
      if (thread->reject == Reject::kNone) thread->reject = Reject::kBadCode;
    } else {
      const auto offset = static_cast<int64_t>(from.instruction - from.code) - frame.code->begin;
      // As CPython does itself (_PyFrame_IsIncomplete): such a frame is still being set up.
      const bool begun =
          frame.code->begin == 0 || from.owner == kOwnedByGenerator || offset >= frame.code->first_traceable;
      if (!begun) continue;
      if (!SetLine(from, &frame, &thread->reject)) frame.code = nullptr;
    }
    thread->frames.push_back(std::move(frame));
  }
}

bool StackReader::SetLine(const RawFrame& raw, Frame* frame, Reject* reject) const {
  const Code& code = *frame->code;
  if (code.begin == 0) {
    frame->line = code.LineAt(static_cast<int64_t>(raw.instruction) * runtime_.layout.frame.instruction_bytes);
    return true;
  }
  const auto offset = static_cast<int64_t>(raw.instruction - raw.code) - code.begin;
  if (offset < -2 || offset >= code.bytes) {
    if (*reject == Reject::kNone) *reject = Reject::kBadInstruction;
    return false;
  }
  frame->line = code.LineAt(offset);
  return true;
}

}  // namespace wf::cpython
