// ThreadSlot: where the calling thread says which attempt it works for, so that a sampler in another process can tell.
//
//   context::Scope scope({run_id, attempt, node, task, sampled, name});   // until the end of the block
//   …
//   const context::Position before = context::Current().Get();   // a coroutine: at each resume,
//   context::Current().Set(its_position);                         // and at each suspend
//   context::Current().Set(before);
//
// Guarantees: setting costs a few nanoseconds, takes no lock and no memory after a thread's first call, and never
// fails: where no page can be made, or all its slots are taken, Set and Get work as ever and only the sampler sees
// nothing. A slot is free again when its thread ends. After fork the child has a page of its own, in which it is the
// only thread; the parent's page stays untouched.
//
// Threading: a ThreadSlot belongs to the thread that got it from Current(); do not hand it to another one.
#ifndef WF_CONTEXT_THREAD_SLOT_H_
#define WF_CONTEXT_THREAD_SLOT_H_

#include <cstring>
#include <string_view>

#include "base/run_id.h"
#include "context/layout.h"

namespace wf::context {

struct Position {
  base::RunId run;       // nil: no attempt
  uint64_t attempt = 0;  // ids as in the model; 0: none
  uint64_t node = 0;
  uint64_t task = 0;
  bool sampled = false;  // the costly probes look at this attempt
  uint32_t name = 0;     // NumberOfName of the task

  bool operator==(const Position&) const = default;
};

class ThreadSlot {
 public:
  constexpr explicit ThreadSlot(Slot* slot) : slot_(slot) {}

  void Set(const Position& position) noexcept {
    SlotWords words{{0, 0},
                    position.attempt,
                    position.node,
                    position.task,
                    (position.sampled ? kSampledFlag : 0) | uint64_t{position.name} << kNameShift};
    std::memcpy(words.run, position.run.bytes.data(), sizeof(words.run));
    Slot& slot = *slot_;
    const uint32_t sequence = slot.sequence.load(std::memory_order_relaxed);
    slot.sequence.store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    slot.run[0].store(words.run[0], std::memory_order_relaxed);
    slot.run[1].store(words.run[1], std::memory_order_relaxed);
    slot.attempt.store(words.attempt, std::memory_order_relaxed);
    slot.node.store(words.node, std::memory_order_relaxed);
    slot.task.store(words.task, std::memory_order_relaxed);
    slot.flags.store(words.flags, std::memory_order_relaxed);
    slot.check.store(CheckOf(sequence + 2, words), std::memory_order_relaxed);
    slot.sequence.store(sequence + 2, std::memory_order_release);
  }

  Position Get() const noexcept {
    Position position;
    const uint64_t run[2] = {slot_->run[0].load(std::memory_order_relaxed),
                             slot_->run[1].load(std::memory_order_relaxed)};
    std::memcpy(position.run.bytes.data(), run, sizeof(run));
    position.attempt = slot_->attempt.load(std::memory_order_relaxed);
    position.node = slot_->node.load(std::memory_order_relaxed);
    position.task = slot_->task.load(std::memory_order_relaxed);
    const uint64_t flags = slot_->flags.load(std::memory_order_relaxed);
    position.sampled = (flags & kSampledFlag) != 0;
    position.name = static_cast<uint32_t>(flags >> kNameShift);
    return position;
  }

  void Clear() noexcept { Set({}); }

 private:
  Slot* slot_;
};

// Makes a name of a task known to whoever reads positions, for as long as the process and its forks live. The same
// number for equal names, from 1; 0: none, there is no room for more. Looks through all names: once per task, not per
// attempt.
uint32_t NumberOfName(std::string_view name) noexcept;

namespace internal {
// Gives the calling thread its slot; the slow path of Current.
ThreadSlot& Enter() noexcept;
// Makes the slot of the calling thread that one; nullptr: one that nobody sees. The ThreadSlot stays the same object.
void MoveTo(Slot* slot) noexcept;
inline thread_local constinit ThreadSlot* current = nullptr;
}  // namespace internal

// The slot of the calling thread; its first call takes one.
inline ThreadSlot& Current() noexcept {
  ThreadSlot* const slot = internal::current;
  return slot != nullptr ? *slot : internal::Enter();
}

// Sets the position for the length of a block and restores the one before.
class Scope {
 public:
  explicit Scope(const Position& position) noexcept : slot_(Current()), before_(slot_.Get()) { slot_.Set(position); }
  ~Scope() { slot_.Set(before_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  ThreadSlot& slot_;
  Position before_;
};

}  // namespace wf::context

#endif  // WF_CONTEXT_THREAD_SLOT_H_
