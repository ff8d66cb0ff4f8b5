#include "context/page_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "context/layout.h"

namespace wf::context {
namespace {

// Reads a number at a fixed place. REQUIRES: the place lies within `bytes`.
template <typename T>
T At(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

Status NoPage(std::string_view why) {
  return {Code::kDataLoss, fmt::format("the context page of the process cannot be read: {}", why)};
}

// False when the copy was made while the slot was written.
bool DecodeSlot(std::span<const std::byte> slot, ThreadEntry& entry) {
  const auto sequence = At<uint32_t>(slot, 0);
  SlotWords words{};
  std::memcpy(words.run, slot.data() + 8, sizeof(words.run));
  words.attempt = At<uint64_t>(slot, 24);
  words.node = At<uint64_t>(slot, 32);
  words.task = At<uint64_t>(slot, 40);
  words.flags = At<uint64_t>(slot, 48);
  const bool was_never_written = sequence == 0;
  const bool fits = was_never_written || At<uint64_t>(slot, 56) == CheckOf(sequence, words);
  if (sequence % 2 != 0 || !fits) return false;
  if (was_never_written) return true;
  std::memcpy(entry.run.bytes.data(), words.run, sizeof(words.run));
  entry.attempt = words.attempt;
  entry.node = words.node;
  entry.task = words.task;
  entry.sampled = (words.flags & kSampledFlag) != 0;
  entry.name = static_cast<uint32_t>(words.flags >> kNameShift);
  entry.sequence = sequence;
  return true;
}

}  // namespace

Result<Snapshot> DecodePage(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(PageHeader)) return NoPage("it is cut off");
  if (At<uint64_t>(bytes, 0) != kMagic) return NoPage("it has another magic number");
  if (At<uint32_t>(bytes, 8) != kVersion) return NoPage("it was made by another version of Workflow");
  if (At<uint32_t>(bytes, 12) != sizeof(PageHeader) || At<uint32_t>(bytes, 36) != sizeof(Slot))
    return NoPage("odd sizes");
  Snapshot snapshot;
  snapshot.pid = At<int32_t>(bytes, 16);
  snapshot.generation = At<uint32_t>(bytes, 20);
  snapshot.overflowed = At<uint32_t>(bytes, 44);
  const size_t copied = (bytes.size() - sizeof(PageHeader)) / sizeof(Slot);
  const size_t count = std::min<size_t>({At<uint32_t>(bytes, 32), At<uint32_t>(bytes, 40), copied});
  for (size_t i = 0; i < count; ++i) {
    const auto slot = bytes.subspan(sizeof(PageHeader) + i * sizeof(Slot), sizeof(Slot));
    ThreadEntry entry;
    entry.tid = At<int32_t>(slot, 4);
    if (entry.tid <= 0) continue;
    if (!DecodeSlot(slot, entry)) {
      snapshot.torn.push_back(entry.tid);
    } else if (!entry.run.IsNil()) {
      snapshot.threads.push_back(entry);
    }
  }
  return snapshot;
}

Result<PageAddress> FindPage(std::string_view maps) {
  const std::string name = fmt::format("/memfd:{} (deleted)", kPageName);
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    if (!line.ends_with(name)) continue;
    PageAddress found;
    uint64_t end = 0;
    const char* const first = line.data();
    const char* const last = first + line.size();
    const auto start = std::from_chars(first, last, found.address, 16);
    if (start.ec != std::errc() || start.ptr == last || *start.ptr != '-') continue;
    const auto stop = std::from_chars(start.ptr + 1, last, end, 16);
    if (stop.ec != std::errc() || end < found.address + sizeof(PageHeader)) continue;
    found.bytes = end - found.address;
    return found;
  }
  return Status(Code::kNotFound, "the process has no context page: no task of Workflow ran in it yet");
}

}  // namespace wf::context
