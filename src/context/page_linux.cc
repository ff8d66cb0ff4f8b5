#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/process_id.h"
#include "context/page.h"
#include "context/thread_slot.h"

namespace wf::context {
namespace {

// Shared memory that another process finds by its name; private to nobody, so that it can be read by process_vm_readv.
// Async-signal-safe: it also runs between fork and whatever comes next.
void* MapPage() {
  const int fd = memfd_create(kPageName, MFD_CLOEXEC);
  if (fd >= 0) {
    void* memory = MAP_FAILED;
    if (ftruncate(fd, static_cast<off_t>(kPageBytes)) == 0) {
      memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);  // the mapping keeps it
    if (memory != MAP_FAILED) return memory;
  }
  // Nobody will find this one, but the threads have somewhere to write.
  void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// What of a name can be kept, without a part of a character at its end.
std::string_view CutOff(std::string_view name) {
  if (name.size() <= sizeof(NameEntry::text)) return name;
  size_t bytes = sizeof(NameEntry::text);
  while (bytes > 0 && (static_cast<unsigned char>(name[bytes]) & 0xC0) == 0x80) --bytes;
  return name.substr(0, bytes);
}

bool Is(const NameEntry& entry, std::string_view name) {
  const uint32_t bytes = entry.bytes.load(std::memory_order_acquire);
  return bytes == name.size() && std::memcmp(entry.text, name.data(), bytes) == 0;
}

// All but the header and the slots is the same in a child.
void CopyNames(const PageHeader* from, PageHeader* to) {
  const uint32_t used = std::min(from->used_names.load(std::memory_order_acquire), kNameCount);
  const auto* source = reinterpret_cast<const std::byte*>(from) + kNamesOffset;
  std::memcpy(reinterpret_cast<std::byte*>(to) + kNamesOffset, source, used * sizeof(NameEntry));
  to->used_names.store(used, std::memory_order_release);
}

void FillHeader(PageHeader* header, uint32_t generation, int64_t start_ticks) {
  header->version = kVersion;
  header->header_bytes = sizeof(PageHeader);
  header->pid = static_cast<int32_t>(getpid());
  header->generation = generation;
  header->start_ticks = start_ticks;
  header->slot_count = kSlotCount;
  header->slot_bytes = sizeof(Slot);
  std::atomic_thread_fence(std::memory_order_release);
  header->magic = kMagic;  // last: without it nobody reads the rest
}

}  // namespace

Page& Page::Instance() {
  static Page* const page = new Page;
  return *page;
}

Page::Page() : memory_(MapPage()) {
  if (memory_ == nullptr) return;
  FillHeader(header(), 0, base::StartTicksOf(static_cast<int32_t>(getpid())).value_or(0));
  pthread_atfork(nullptr, nullptr, &Page::AfterForkInChild);
}

Slot* Page::slots() const { return reinterpret_cast<Slot*>(static_cast<std::byte*>(memory_) + sizeof(PageHeader)); }

NameEntry* Page::names() const { return reinterpret_cast<NameEntry*>(static_cast<std::byte*>(memory_) + kNamesOffset); }

// Two threads that bring the same name at once may both get room for it: that is no harm. A child that was forked while
// a thread wrote a name has an entry that stays unfinished.
uint32_t Page::NumberOf(std::string_view name) {
  name = CutOff(name);
  if (memory_ == nullptr || name.empty()) return 0;
  for (uint32_t i = 0; i < kNameCount; ++i) {
    NameEntry& entry = names()[i];
    if (Is(entry, name)) return i + 1;
    uint32_t free = 0;
    if (!entry.bytes.compare_exchange_strong(free, kNameIsBeingWritten, std::memory_order_acq_rel)) continue;
    uint32_t used = header()->used_names.load(std::memory_order_relaxed);
    while (used <= i && !header()->used_names.compare_exchange_weak(used, i + 1, std::memory_order_release)) {
    }
    std::memcpy(entry.text, name.data(), name.size());
    entry.bytes.store(static_cast<uint32_t>(name.size()), std::memory_order_release);
    return i + 1;
  }
  return 0;
}

Slot* Page::Take(int32_t tid) {
  if (memory_ == nullptr) return nullptr;
  for (uint32_t i = 0; i < kSlotCount; ++i) {
    int32_t free = 0;
    Slot& slot = slots()[i];
    if (slot.tid.load(std::memory_order_relaxed) != 0) continue;
    if (!slot.tid.compare_exchange_strong(free, tid, std::memory_order_acq_rel)) continue;
    uint32_t used = header()->used_slots.load(std::memory_order_relaxed);
    while (used <= i && !header()->used_slots.compare_exchange_weak(used, i + 1, std::memory_order_release)) {
    }
    return &slot;
  }
  header()->overflowed.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

void Page::Release(Slot* slot) {
  ThreadSlot(slot).Clear();
  slot->tid.store(0, std::memory_order_release);
}

std::span<const std::byte> Page::bytes() const {
  if (memory_ == nullptr) return {};
  return {static_cast<const std::byte*>(memory_), kPageBytes};
}

void Page::AfterForkInChild() {
  // Same address, new memory: pointers into the page stay good, and the parent's page is not touched. The one thread
  // that lives on keeps its place and position; all others are gone.
  Page& page = Instance();
  const uint32_t generation = page.header()->generation + 1;
  ThreadSlot* const mine = internal::current;
  const Position position = mine == nullptr ? Position{} : mine->Get();
  void* const made = MapPage();
  if (made == nullptr) return;  // cannot be: there is a page of memory, or we are dying
  CopyNames(page.header(), static_cast<PageHeader*>(made));
  FillHeader(static_cast<PageHeader*>(made), generation,
             0);  // reading /proc is not allowed here; a reader does without
  if (mremap(made, kPageBytes, kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, page.memory_) == MAP_FAILED) return;
  if (mine == nullptr) return;
  internal::MoveTo(page.Take(static_cast<int32_t>(gettid())));
  mine->Set(position);
}

}  // namespace wf::context
