#include "cpython/dict.h"

#include <algorithm>
#include <array>

#include "cpython/unicode.h"

namespace wf::cpython {
namespace {

using Entries = std::vector<std::pair<uint64_t, uint64_t>>;

constexpr size_t kMostEntries = 1 << 14;  // of a dict: sys.modules of large programs has some thousands
constexpr size_t kMostAttributes = 256;   // of an object

struct KeyTable {
  uint64_t entries = 0;  // address
  uint64_t count = 0;
  uint64_t stride = 0;
  uint64_t key = 0;  // offset within an entry; the value follows it
};

// Until 3.10: dk_size and an index of the smallest integer that can count it (Objects/dictobject.c, DK_IXSIZE).
uint64_t IndexBytes(uint64_t size) {
  if (size <= 0xFF) return size;
  if (size <= 0xFFFF) return size * 2;
  return size <= 0xFFFFFFFF ? size * 4 : size * 8;
}

std::optional<KeyTable> ReadKeyTable(MemoryReader& memory, const Layout& layout, uint64_t keys) {
  const auto& at = layout.dict;
  std::array<std::byte, 48> head{};
  if (!IsPlausiblePointer(keys) || !memory.ReadOne(keys, head.data(), at.keys_indices)) return std::nullopt;
  KeyTable table;
  table.count = std::min<uint64_t>(FieldAt<uint64_t>(head, at.keys_entry_count), kMostEntries);
  uint64_t index_bytes = 0;
  bool general = true;
  if (at.keys_log2_size == kAbsent) {
    index_bytes = IndexBytes(std::min<uint64_t>(FieldAt<uint64_t>(head, at.keys_size), uint64_t{1} << 40));
  } else {
    const auto log2 = FieldAt<uint8_t>(head, at.keys_log2_index_bytes);
    if (log2 > 40) return std::nullopt;
    index_bytes = uint64_t{1} << log2;
    general = FieldAt<uint8_t>(head, at.keys_kind) == 0;
  }
  table.entries = keys + at.keys_indices + index_bytes;
  table.stride = general ? 24 : 16;  // a general entry begins with the hash
  table.key = general ? 8 : 0;
  return table;
}

// `values`: address of the values' array, 0: they stand beside the keys.
Entries ReadEntries(MemoryReader& memory, const KeyTable& table, uint64_t values, size_t most) {
  const size_t count = std::min<size_t>(table.count, most);
  std::vector<std::byte> entries(count * table.stride);
  std::vector<uint64_t> apart(values != 0 ? count : 0);
  Segment segments[] = {{table.entries, entries.data(), entries.size()}, {values, apart.data(), apart.size() * 8}};
  memory.Read(std::span(segments, values != 0 ? 2 : 1));
  Entries result;
  if (!segments[0].ok || (values != 0 && !segments[1].ok)) return result;
  for (size_t i = 0; i < count; ++i) {
    const auto key = FieldAt<uint64_t>(entries, i * table.stride + table.key);
    const uint64_t value = values != 0 ? apart[i] : FieldAt<uint64_t>(entries, i * table.stride + table.key + 8);
    if (IsPlausiblePointer(key) && IsPlausiblePointer(value)) result.emplace_back(key, value);
  }
  return result;
}

uint64_t FindByName(MemoryReader& memory, const Layout& layout, const Entries& entries, std::string_view name) {
  std::vector<uint64_t> keys;
  keys.reserve(entries.size());
  for (const auto& entry : entries) keys.push_back(entry.first);
  const auto texts = ReadStrings(memory, layout, keys, name.size() + 1);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (texts[i] == name) return entries[i].second;
  }
  return 0;
}

// Where the attributes of an object are: a dict, or values with the keys of its type.
struct Attributes {
  uint64_t dict = 0;
  uint64_t values = 0;
};

Attributes ManagedAttributes(MemoryReader& memory, uint32_t minor, uint64_t object, uint64_t after_object) {
  Attributes found;
  const uint64_t before = memory.Get<uint64_t>(object - 24).value_or(0);
  if (minor == 11) {  // two pointers before the object
    found.values = memory.Get<uint64_t>(object - 32).value_or(0);
    found.dict = before;
  } else if (minor == 12) {  // one of both; values are marked in the low bit, by subtracting one
    if ((before & 1) != 0)
      found.values = before + 1;
    else
      found.dict = before;
  } else {  // values within the object, until somebody asks for the dict
    found.dict = before;
    if (before == 0) found.values = after_object;
  }
  return found;
}

}  // namespace

Entries ReadDict(MemoryReader& memory, const Layout& layout, uint64_t dict, size_t most) {
  std::array<std::byte, 64> head{};
  if (!IsPlausiblePointer(dict) || !memory.ReadOne(dict, head.data(), layout.dict.values + 8)) return {};
  const auto table = ReadKeyTable(memory, layout, FieldAt<uint64_t>(head, layout.dict.keys));
  if (!table) return {};
  const auto values = FieldAt<uint64_t>(head, layout.dict.values);
  return ReadEntries(memory, *table, values == 0 ? 0 : values + layout.dict.values_items, most);
}

uint64_t FindInDict(MemoryReader& memory, const Layout& layout, uint64_t dict, std::string_view key) {
  return FindByName(memory, layout, ReadDict(memory, layout, dict, kMostEntries), key);
}

uint64_t FindAttribute(MemoryReader& memory, const Layout& layout, uint64_t object, std::string_view name) {
  constexpr uint64_t kManagedDict = 1 << 4;  // Py_TPFLAGS_MANAGED_DICT
  const auto& at = layout.type;
  const auto type = memory.Get<uint64_t>(object + layout.object.type);
  if (!type || !IsPlausiblePointer(*type)) return 0;
  const auto flags = memory.Get<uint64_t>(*type + at.flags).value_or(0);
  if (layout.minor < 11 || (flags & kManagedDict) == 0) {
    const auto offset = memory.Get<int64_t>(*type + at.dict_offset).value_or(0);
    if (offset <= 0 || offset > 1 << 20) return 0;
    const auto dict = memory.Get<uint64_t>(object + static_cast<uint64_t>(offset)).value_or(0);
    return FindByName(memory, layout, ReadDict(memory, layout, dict, kMostAttributes), name);
  }
  const auto basic_size = memory.Get<uint64_t>(*type + at.basic_size).value_or(0);
  if (basic_size > 1 << 20) return 0;
  const Attributes found = ManagedAttributes(memory, layout.minor, object, object + basic_size);
  if (found.values == 0) return FindByName(memory, layout, ReadDict(memory, layout, found.dict, kMostAttributes), name);
  const auto keys = memory.Get<uint64_t>(*type + at.cached_keys).value_or(0);
  const auto table = ReadKeyTable(memory, layout, keys);
  if (!table) return 0;
  return FindByName(memory, layout,
                    ReadEntries(memory, *table, found.values + layout.dict.values_items, kMostAttributes), name);
}

std::optional<uint64_t> ReadInteger(MemoryReader& memory, const Layout& layout, uint64_t object) {
  constexpr uint32_t kDigitBits = 30;
  const auto tag = memory.Get<int64_t>(object + layout.integer.tag);
  if (!tag || *tag < 0) return std::nullopt;
  const int64_t digits = layout.minor >= 12 ? *tag >> 3 : *tag;
  if (digits > 3 || (layout.minor >= 12 && (*tag & 3) == 2)) return std::nullopt;
  std::array<uint32_t, 3> words{};
  if (!memory.ReadOne(object + layout.integer.digits, words.data(), static_cast<size_t>(digits) * 4)) {
    return std::nullopt;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < words.size(); ++i) value |= uint64_t{words[i]} << (kDigitBits * i);
  return layout.minor >= 12 && (*tag & 3) == 1 ? 0 : value;
}

}  // namespace wf::cpython
