#include "context/thread_slot.h"

#include <unistd.h>

#include <new>

#include "context/page.h"

namespace wf::context {

uint32_t NumberOfName(std::string_view name) noexcept { return Page::Instance().NumberOf(name); }

namespace internal {
namespace {

// What a thread has of its own. Trivial, so that it can be used until the very end of the thread, after all
// destructors.
struct PerThread {
  Slot spare{};  // for a thread that is not on the page
  ThreadSlot handle{nullptr};
  Slot* taken = nullptr;
};
thread_local constinit PerThread per_thread;

// Gives the slot back at the end of the thread. Destructors that run after this one still find a slot: the spare one.
struct Leave {
  bool armed = false;
  ~Leave() {
    if (!armed || per_thread.taken == nullptr) return;
    Page::Instance().Release(per_thread.taken);
    MoveTo(nullptr);
  }
};
thread_local Leave leave;

}  // namespace

void MoveTo(Slot* slot) noexcept {
  per_thread.taken = slot;
  per_thread.handle = ThreadSlot(slot != nullptr ? slot : &per_thread.spare);
}

ThreadSlot& Enter() noexcept {
  MoveTo(Page::Instance().Take(static_cast<int32_t>(gettid())));
  current = &per_thread.handle;
  leave.armed = true;
  return per_thread.handle;
}

}  // namespace internal
}  // namespace wf::context
