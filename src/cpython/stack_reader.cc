#include "cpython/stack_reader.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace wf::cpython {
namespace {

uint64_t NextVersion() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

// Stacks change at their leaf ends, which come first.
void ResizeAtLeaf(size_t size, std::vector<Frame>* frames) {
  const auto begin = frames->begin();
  if (frames->size() > size) frames->erase(begin, begin + static_cast<std::ptrdiff_t>(frames->size() - size));
  if (frames->size() < size) frames->insert(begin, size - frames->size(), Frame());
}

}  // namespace

// At 720 in every glibc for x86-64 (nptl/descr.h: 704 bytes of head, a list node, then tid).
int32_t NativeIdOf(const ThreadStack& stack, MemoryReader& memory) {
  constexpr uint64_t kTidOffset = 720;
  if (stack.native_id != 0) return static_cast<int32_t>(stack.native_id);
  return memory.Get<int32_t>(stack.pthread_id + kTidOffset).value_or(0);
}

void CopyChanged(const ThreadStack& from, ThreadStack* to) {
  if (from.version != to->version || from.version == 0) {
    ResizeAtLeaf(from.frames.size(), &to->frames);
    for (size_t i = 0; i < from.frames.size(); ++i) {
      const Frame& source = from.frames[i];
      Frame& target = to->frames[i];
      if (target.code != source.code) target.code = source.code;
      target.line = source.line;
      target.is_entry = source.is_entry;
      target.address = source.address;
    }
  }
  to->thread = from.thread;
  to->state_id = from.state_id;
  to->interpreter = from.interpreter;
  to->pthread_id = from.pthread_id;
  to->native_id = from.native_id;
  to->holds_gil = from.holds_gil;
  to->unchanged = from.unchanged;
  to->ran_meanwhile = from.ran_meanwhile;
  to->truncated = from.truncated;
  to->reject = from.reject;
  to->version = from.version;
}

StackReader::StackReader(MemoryReader& memory, const Runtime& runtime, const StackReaderOptions& options)
    : memory_(memory),
      runtime_(runtime),
      options_(options),
      codes_(runtime.layout, runtime.code_type),
      translator_(runtime.layout, codes_),
      heads_(runtime) {}

const Sample& StackReader::Read() {
  ++samples_;
  codes_.Trim();
  const bool lean = steady_ && samples_ - list_sample_ < kListEvery;
  FetchPlanned(lean);
  sample_.alive = heads_.Read(memory_, lean);
  steady_ = heads_.is_same();
  const bool has_list = lean && steady_;
  if (lean && !has_list) FetchList();
  if (!has_list) FollowLists();
  ReuseOrWalk();
  if (has_list && !AreAsListed()) {
    FetchList();
    FollowLists();
    ReuseOrWalk();
  }
  steady_ &= sample_.alive && sample_.complete && !list_changed_;
  Settle();
  for (Slot* slot : active_) FinishSlot(*slot);
  return sample_;
}

void StackReader::Add(Mirror& mirror) {
  mirror.Plan(&batch_);
  batch_mirrors_.push_back(&mirror);
}

void StackReader::ReadBatch() {
  memory_.Read(batch_);
  size_t at = 0;
  for (Mirror* mirror : batch_mirrors_) {
    mirror->Accept(std::span(batch_).subspan(at));
    at += mirror->planned_segments();
  }
  batch_.clear();
  batch_mirrors_.clear();
}

void StackReader::FetchPlanned(bool lean) {
  Add(heads_.mirror(lean));
  if (!lean) {
    for (auto& [thread, slot] : slots_) Add(slot.head);
  }
  for (Slot* slot : active_) Add(slot->mirror);  // the others slept; they will most likely go on sleeping
  Add(heads_.counters_mirror());
  if (codes_stood_) PlanSeconds();
  ReadBatch();
}

// Who held a GIL in the last sample most likely will in this one.
void StackReader::PlanSeconds() {
  const auto holds = [&](const Slot* slot) { return heads_.gils_now()[slot->gil].state.holder == slot->thread; };
  seconds_planned_ = samples_;
  // Holders alone prove nothing by a GIL that was not switched.
  seconds_have_gils_ = !std::all_of(active_.begin(), active_.end(), holds);
  if (seconds_have_gils_) {
    heads_.PlanAgain(&batch_);
    batch_mirrors_.push_back(&heads_.again_mirror());
  }
  for (Slot* slot : active_) {
    if (!holds(slot)) continue;
    slot->second_planned = samples_;
    slot->second.PlanLike(slot->mirror, &batch_);
    batch_mirrors_.push_back(&slot->second);
  }
}

void StackReader::FetchList() {
  for (auto& [thread, slot] : slots_) Add(slot.head);
  ReadBatch();
}

void StackReader::FollowLists() {
  ++lists_;
  list_sample_ = samples_;
  interpreters_.clear();
  old_threads_.swap(sample_.threads);
  sample_.threads.clear();
  sample_.complete = heads_.complete();
  list_changed_ = false;
  for (size_t i = 0; i < heads_.interpreters().size(); ++i) {
    interpreters_[heads_.interpreters()[i].id] = heads_.interpreters()[i].address;
    if (!FollowList(i)) sample_.complete = false;
  }
  list_changed_ |= sample_.threads.size() != old_threads_.size();
  if (list_changed_) sample_.list_version = NextVersion();
  std::erase_if(slots_, [&](const auto& entry) { return entry.second.last_seen != lists_; });
  active_.clear();
  held_bytes_ = 0;
  for (auto& [thread, slot] : slots_) {
    active_.push_back(&slot);
    held_bytes_ += slot.mirror.held_bytes() + slot.second.held_bytes();
  }
}

// False when it does not end where a list ends.
bool StackReader::FollowList(size_t interpreter) {
  const auto& at = runtime_.layout.thread;
  const InterpreterHead& head = heads_.interpreters()[interpreter];
  uint64_t thread = head.first_thread;
  while (thread != 0 && IsPlausiblePointer(thread) && sample_.threads.size() < kMostThreads) {
    Slot& slot = slots_[thread];
    if (slot.last_seen == lists_) return false;  // a ring
    slot.head.Find(memory_, thread, at.size);    // all of it at one moment
    slot.thread = thread;
    const auto owner = slot.head.Get<uint64_t>(memory_, thread + at.interpreter);
    if (owner != head.address) return false;  // freed meanwhile: the links behind it are of no use
    Enter(slot, interpreter);
    const auto next = slot.head.Get<uint64_t>(memory_, thread + at.next);
    if (!next) return false;
    slot.next = thread = *next;
  }
  return thread == 0;
}

// What was known of the same thread is kept.
void StackReader::Enter(Slot& slot, size_t interpreter) {
  const InterpreterHead& head = heads_.interpreters()[interpreter];
  slot.last_seen = lists_;
  slot.interpreter = interpreter;
  slot.gil = head.gil;
  slot.identity = ReadIdentity(slot.thread, slot.head);
  const size_t index = sample_.threads.size();
  ThreadStack* const old = slot.is_listed ? &old_threads_[slot.index] : nullptr;
  const bool is_same = old != nullptr && old->state_id == slot.identity.state_id && old->interpreter == head.id;
  list_changed_ |= !is_same || slot.index != index;
  ThreadStack& entry = sample_.threads.emplace_back();
  if (is_same) {
    entry = std::move(*old);
  } else {
    entry.thread = slot.thread;
    entry.interpreter = head.id;
    slot.has_known = slot.reused = false;
    slot.shown = {};
  }
  slot.index = index;
  slot.is_listed = true;
}

// Plans what has to be read after all.
void StackReader::ReuseOrWake(Slot& slot) {
  slot.before = heads_.gils()[slot.gil].state;
  ThreadStack& entry = sample_.threads[slot.index];
  const bool slept = slot.has_known && slot.before.IsSameHold(slot.known_gil) && slot.before.holder != slot.thread &&
                     entry.state_id == slot.identity.state_id;
  if (slot.reused && !slept) Add(slot.mirror);
  slot.reused = slot.settled = slept;
  slot.seen_attached = slot.has_moved = false;
  if (!slept) return;
  entry.unchanged = true;
  entry.holds_gil = entry.ran_meanwhile = false;
}

void StackReader::ReuseOrWalk() {
  for (Slot* slot : active_) ReuseOrWake(*slot);
  if (!batch_.empty()) {
    Add(heads_.counters_mirror());
    ReadBatch();
  }
  std::erase_if(active_, [](const Slot* slot) { return slot->reused; });
  for (Slot* slot : active_) {
    const uint64_t collecting = heads_.interpreters()[slot->interpreter].collecting_frame;
    Walk(slot->thread, collecting, slot->mirror, &slot->identity, &slot->stack);
  }
}

// Whether the threads that ran since the lists were followed still have their places there. One that ends loses its
// frames first.
bool StackReader::AreAsListed() {
  const auto& at = runtime_.layout.thread;
  return std::all_of(active_.begin(), active_.end(), [&](Slot* slot) {
    const ThreadStack& entry = sample_.threads[slot->index];
    return !slot->stack.frames.empty() && slot->identity.state_id == entry.state_id &&
           slot->mirror.Get<uint64_t>(memory_, slot->thread + at.next) == slot->next &&
           slot->mirror.Get<uint64_t>(memory_, slot->thread + at.interpreter) == interpreters_[entry.interpreter];
  });
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

void StackReader::Walk(uint64_t thread, uint64_t collecting, Mirror& mirror, Identity* identity, RawStack* stack) {
  mirror.Find(memory_, thread, runtime_.layout.thread.size);  // all of it at one moment
  *identity = ReadIdentity(thread, mirror);
  // A frame takes a page at most: what leads up to it.
  const size_t left = options_.most_bytes - std::min(options_.most_bytes, held_bytes_);
  const size_t before = mirror.held_bytes();
  const size_t most = std::min(options_.most_frames, left / Mirror::kPage);
  WalkStack(memory_, mirror, runtime_.layout, thread, most, collecting, stack);
  held_bytes_ += mirror.held_bytes() - before;
}

void StackReader::FinishSlot(Slot& slot) {
  ThreadStack& thread = sample_.threads[slot.index];
  thread.unchanged = false;
  const bool is_same = thread.state_id == slot.identity.state_id && thread.pthread_id == slot.identity.pthread_id &&
                       thread.native_id == slot.identity.native_id;
  if (!is_same) sample_.list_version = NextVersion();
  thread.state_id = slot.identity.state_id;
  thread.pthread_id = slot.identity.pthread_id;
  thread.native_id = slot.identity.native_id;
  const GilState& gil = heads_.gils_now()[slot.gil].state;
  thread.holds_gil = gil.locked && gil.holder == slot.thread;
  thread.ran_meanwhile = slot.has_moved;
  bool changed = translator_.Translate(slot.stack.frames, &thread.frames, &slot.shown);
  Reject reject = slot.stack.broken;
  if (reject == Reject::kNone && !slot.settled) reject = Reject::kTorn;
  if (reject == Reject::kNone) reject = slot.shown.reject;
  changed |= thread.reject != reject || thread.truncated != slot.stack.truncated;
  if (changed) thread.version = NextVersion();
  thread.reject = reject;
  thread.truncated = slot.stack.truncated;
  if (reject != Reject::kNone) ++rejects_.at(static_cast<size_t>(reject));
  slot.has_known = reject == Reject::kNone && slot.before.holder != slot.thread;
  slot.known_gil = slot.before;
}

}  // namespace wf::cpython
