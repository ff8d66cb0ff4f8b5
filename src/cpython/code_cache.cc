#include "cpython/code_cache.h"

#include <algorithm>
#include <atomic>

#include "cpython/line_table.h"
#include "cpython/unicode.h"

namespace wf::cpython {
namespace {

constexpr size_t kLongestText = 1000;                // characters of a name or file, then "…"
constexpr size_t kLongestTable = 4 << 20;            // a function of 40,000 lines has 0.5 MiB
constexpr uint32_t kSuspends = 0x20 | 0x80 | 0x200;  // CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
constexpr uint64_t kMostUnits = uint64_t{1} << 30;

size_t BytesOf(const Code& code) {
  return code.name.capacity() + code.qualname.capacity() + code.filename.capacity() + code.line_table.capacity();
}

std::shared_ptr<Code> NewCode() {
  static std::atomic<uint64_t> last_id = 0;
  auto code = std::make_shared<Code>();
  code->id = ++last_id;
  return code;
}

}  // namespace

int32_t Code::LineAt(int64_t offset) const {
  return cpython::LineAt(line_table, minor, first_line, offset).value_or(0);
}

CodeCache::Key CodeCache::KeyOf(std::span<const std::byte> object) const {
  const auto& at = layout_.code;
  const auto pointer = [&](uint32_t offset) { return offset == kAbsent ? 0 : FieldAt<uint64_t>(object, offset); };
  Key key;
  key.type = FieldAt<uint64_t>(object, layout_.object.type);
  key.name = pointer(at.name);
  key.qualname = pointer(at.qualname);
  key.filename = pointer(at.filename);
  key.line_table = pointer(at.line_table);
  key.units = pointer(at.units);
  key.flags = FieldAt<uint32_t>(object, at.flags);
  key.first_line = FieldAt<int32_t>(object, at.first_line);
  if (at.first_traceable != kAbsent) key.first_traceable = FieldAt<int32_t>(object, at.first_traceable);
  if (at.version != kAbsent) key.version = FieldAt<uint32_t>(object, at.version);
  if (at.units == kAbsent) key.instructions = pointer(at.instructions);
  return key;
}

bool CodeCache::IsSound(const Key& key) const {
  if (code_type_ != 0 && key.type != code_type_) return false;
  return IsPlausiblePointer(key.name) && IsPlausiblePointer(key.filename) && IsPlausiblePointer(key.line_table) &&
         key.units < kMostUnits && key.first_line >= 0 && key.first_traceable >= 0;
}

std::vector<std::optional<CodeCache::Key>> CodeCache::ReadKeys(MemoryReader& memory,
                                                               std::span<const uint64_t> addresses) const {
  const size_t bytes = layout_.code.size;
  std::vector<std::byte> objects(addresses.size() * bytes);
  std::vector<Segment> segments;
  segments.reserve(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) segments.push_back({addresses[i], objects.data() + i * bytes, bytes});
  memory.Read(segments);
  std::vector<std::optional<Key>> keys(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!segments[i].ok) continue;
    const Key key = KeyOf(std::span(objects).subspan(i * bytes, bytes));
    if (IsSound(key)) keys[i] = key;
  }
  return keys;
}

std::shared_ptr<const Code> MakeMarker(std::string text) {
  auto code = NewCode();
  code->name = std::move(text);
  code->is_marker = true;
  return code;
}

bool CodeCache::Refresh(MemoryReader& memory, std::span<const uint64_t> addresses, bool unchanged) {
  std::vector<uint64_t> asked;
  if (!unchanged) ++epoch_;
  for (const uint64_t address : addresses) {
    const auto known = entries_.find(address);
    if (known == entries_.end() || known->second.epoch != epoch_) asked.push_back(address);
  }
  if (asked.empty()) return false;
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());

  const auto keys = ReadKeys(memory, asked);
  std::vector<uint64_t> kept;
  std::vector<uint64_t> wanted;
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto known = entries_.find(asked[i]);
    if (keys[i] && known != entries_.end() && known->second.key == *keys[i]) {
      known->second.epoch = epoch_;
      kept.push_back(asked[i]);
      continue;
    }
    Forget(asked[i]);
    if (keys[i]) wanted.push_back(asked[i]);
  }
  if (layout_.code.version == kAbsent) DropThoseWithOtherTexts(memory, &kept, &wanted);
  std::vector<Key> wanted_keys;
  std::sort(wanted.begin(), wanted.end());
  for (const uint64_t address : wanted) {
    wanted_keys.push_back(*keys[std::lower_bound(asked.begin(), asked.end(), address) - asked.begin()]);
  }
  Load(memory, wanted, wanted_keys);
  return true;
}

// The same pointers may hold other texts by now: allocators hand out the same places in the same order.
void CodeCache::DropThoseWithOtherTexts(MemoryReader& memory, std::vector<uint64_t>* kept,
                                        std::vector<uint64_t>* wanted) {
  std::vector<uint64_t> texts;
  for (const uint64_t address : *kept) {
    const Key& key = entries_.at(address).key;
    texts.push_back(key.name);
    texts.push_back(key.filename);
  }
  const auto read = ReadStrings(memory, layout_, texts, kLongestText);
  for (size_t i = 0; i < kept->size(); ++i) {
    const Code& code = *entries_.at((*kept)[i]).code;
    const auto& file = read[2 * i + 1];
    const bool same_file = file && (*file == code.filename || (file->empty() && code.filename == "<no filename>"));
    if (same_file && read[2 * i] == code.name) continue;
    Forget((*kept)[i]);
    wanted->push_back((*kept)[i]);
  }
}

void CodeCache::Load(MemoryReader& memory, const std::vector<uint64_t>& addresses, const std::vector<Key>& keys) {
  if (addresses.empty()) return;
  std::vector<std::shared_ptr<const Code>> codes;
  codes.reserve(keys.size());
  size_t bytes = bytes_;
  for (const Key& key : keys) {
    codes.push_back(bytes <= kMostBytes ? Decode(memory, key) : nullptr);
    if (codes.back() != nullptr) bytes += BytesOf(*codes.back());
  }
  // What was read belongs together only if the object is still the same one after the last of the reads.
  const auto after = ReadKeys(memory, addresses);
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (codes[i] == nullptr || after[i] != keys[i]) continue;
    entries_[addresses[i]] = {keys[i], codes[i], epoch_};
    bytes_ += BytesOf(*codes[i]);
  }
}

std::shared_ptr<const Code> CodeCache::Decode(MemoryReader& memory, const Key& key) const {
  const uint64_t addresses[] = {key.name, key.filename, key.qualname};
  auto texts =
      ReadStrings(memory, layout_, std::span(addresses, layout_.code.qualname == kAbsent ? 2 : 3), kLongestText);
  auto table = ReadBytes(memory, layout_, key.line_table, kLongestTable);
  if (!texts[0] || !texts[1] || !table) return nullptr;
  auto code = NewCode();
  code->name = std::move(*texts[0]);
  code->filename = texts[1]->empty() ? "<no filename>" : std::move(*texts[1]);
  if (texts.size() > 2 && texts[2]) code->qualname = std::move(*texts[2]);
  code->first_line = key.first_line;
  code->minor = layout_.minor;
  code->suspends = (key.flags & kSuspends) != 0;
  code->line_table = std::move(*table);
  if (layout_.code.units != kAbsent) {
    code->begin = layout_.code.instructions;
    code->bytes = static_cast<int64_t>(key.units) * 2;
    code->first_traceable = int64_t{key.first_traceable} * 2;
  }
  return code;
}

void CodeCache::Trim() {
  if (entries_.size() <= kMostEntries && bytes_ <= kMostBytes) return;
  entries_.clear();
  bytes_ = 0;
  ++epoch_;
  ++generation_;
}

void CodeCache::Forget(uint64_t address) {
  const auto known = entries_.find(address);
  if (known == entries_.end()) return;
  bytes_ -= BytesOf(*known->second.code);
  entries_.erase(known);
  ++generation_;
}

const std::shared_ptr<const Code>* CodeCache::Find(uint64_t address) const {
  const auto found = entries_.find(address);
  return found == entries_.end() ? nullptr : &found->second.code;
}

}  // namespace wf::cpython
