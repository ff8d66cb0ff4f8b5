#include "native/address_space.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace wf::native {
namespace {

constexpr size_t kMostMappings = 1 << 16;

// The next word of a line of maps, which then begins behind it.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

bool ReadNumber(std::string_view text, int radix, uint64_t* into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *into, radix);
  return error == std::errc() && end == text.data() + text.size();
}

bool ReadMapping(std::string_view line, Mapping* mapping) {
  const std::string_view range = TakeWord(line);
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos) return false;
  if (!ReadNumber(range.substr(0, dash), 16, &mapping->begin)) return false;
  if (!ReadNumber(range.substr(dash + 1), 16, &mapping->end)) return false;
  mapping->is_code = TakeWord(line).find('x') != std::string_view::npos;
  if (!ReadNumber(TakeWord(line), 16, &mapping->offset)) return false;
  mapping->device = TakeWord(line);
  if (!ReadNumber(TakeWord(line), 10, &mapping->inode)) return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping->path = line;
  return mapping->begin < mapping->end;
}

bool IsSame(const Mapping& a, const Mapping& b) {
  return std::tie(a.begin, a.end, a.offset, a.inode, a.device, a.path) ==
         std::tie(b.begin, b.end, b.offset, b.inode, b.device, b.path);
}

}  // namespace

std::vector<Mapping> MappingsIn(std::string_view maps) {
  std::vector<Mapping> mappings;
  while (!maps.empty() && mappings.size() < kMostMappings) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    Mapping mapping;
    if (ReadMapping(line, &mapping)) mappings.push_back(std::move(mapping));
  }
  std::sort(mappings.begin(), mappings.end(), [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; });
  return mappings;
}

void AddressSpace::SetMappings(std::vector<Mapping> mappings) {
  // Data comes and goes all the time; what is known of code stays while the code does.
  const auto code_of = [](const std::vector<Mapping>& all) {
    std::vector<const Mapping*> code;
    for (const Mapping& mapping : all) {
      if (mapping.is_code) code.push_back(&mapping);
    }
    return code;
  };
  const auto before = code_of(mappings_);
  const auto after = code_of(mappings);
  const bool is_same = std::equal(before.begin(), before.end(), after.begin(), after.end(),
                                  [](const Mapping* a, const Mapping* b) { return IsSame(*a, *b); });
  if (!is_same) ForgetPlaces();
  mappings_ = std::move(mappings);
}

const Mapping* AddressSpace::Find(uint64_t address) const {
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                      [](uint64_t value, const Mapping& mapping) { return value < mapping.begin; });
  if (after == mappings_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

AddressSpace::Found AddressSpace::ImageAt(uint64_t address, const Mapping& mapping) {
  if (mapping.path.empty() || (mapping.path[0] == '[' && mapping.path != "[vdso]")) return {};
  const auto [at, is_new] = images_.try_emplace({mapping.device, mapping.inode, mapping.path});
  if (is_new) at->second = Image::Open(open_(mapping));
  Image* const image = at->second.get();
  if (image == nullptr) return {};
  const auto base = image->AddressOf(mapping.offset);
  if (!base) return {};
  return {image, *base + (address - mapping.begin)};
}

const UnwindRow* AddressSpace::RowAt(uint64_t address) {
  const Mapping* const mapping = Find(address);
  if (mapping == nullptr || !mapping->is_code) return nullptr;
  const Found found = ImageAt(address, *mapping);
  if (found.image == nullptr) return nullptr;
  const UnwindRow& row = found.image->RowAt(found.address);
  return row.is_known ? &row : nullptr;
}

void AddressSpace::KeepPlaces() {
  if (places_.size() > kMostPlaces) ForgetPlaces();
}

void AddressSpace::ForgetPlaces() {
  places_.clear();
  ++generation_;
}

const std::vector<Place>& AddressSpace::PlacesAt(uint64_t address) {
  const auto [at, is_new] = places_.try_emplace(address);
  if (!is_new) return at->second;
  const Mapping* const mapping = Find(address);
  const Found found = mapping == nullptr ? Found() : ImageAt(address, *mapping);
  std::vector<Function> functions(1);
  if (found.image != nullptr) functions = found.image->FunctionsAt(found.address);
  const uint64_t place = found.image == nullptr ? address : found.address;
  const UnwindRow* const row = found.image == nullptr ? nullptr : RowAt(address);
  for (Function& function : functions) {
    at->second.push_back({.function = std::move(function),
                          .module = mapping == nullptr ? "" : mapping->path,
                          .address = place,
                          .code_begin = row != nullptr ? row->begin : place});
  }
  return at->second;
}

}  // namespace wf::native
