// Page: the process's one context page, made at first use and renewed after fork. Used by thread_slot.cc and by tests.
#ifndef WF_CONTEXT_PAGE_H_
#define WF_CONTEXT_PAGE_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "context/layout.h"

namespace wf::context {

class Page {
 public:
  // Made once for the process and never freed: threads may end after main.
  static Page& Instance();

  // A free slot, now owned by thread `tid`; nullptr when there is none.
  Slot* Take(int32_t tid);
  // Makes the slot free again. It must be one of ours.
  void Release(Slot* slot);

  // The number of a name, from 1, the same for equal ones; 0: it is empty, or there is no room. Any thread. What is too
  // long is cut off.
  uint32_t NumberOf(std::string_view name);

  // The bytes as another process would read them; empty when there is no page.
  std::span<const std::byte> bytes() const;

 private:
  Page();
  static void AfterForkInChild();
  PageHeader* header() const { return static_cast<PageHeader*>(memory_); }
  Slot* slots() const;
  NameEntry* names() const;

  void* memory_ = nullptr;  // the address stays the same for the life of the process, and in its forks
};

}  // namespace wf::context

#endif  // WF_CONTEXT_PAGE_H_
