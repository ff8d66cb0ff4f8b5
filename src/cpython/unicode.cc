#include "cpython/unicode.h"

#include <algorithm>
#include <array>

namespace wf::cpython {
namespace {

void AppendUtf8(uint32_t point, std::string* text) {
  if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) point = 0xFFFD;
  const auto tail = [&](int shift) { text->push_back(static_cast<char>(0x80 | (point >> shift & 0x3F))); };
  if (point < 0x80) {
    text->push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    text->push_back(static_cast<char>(0xC0 | point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    text->push_back(static_cast<char>(0xE0 | point >> 12));
    tail(6);
    tail(0);
  } else {
    text->push_back(static_cast<char>(0xF0 | point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::optional<UnicodeHead> DecodeUnicodeHead(std::span<const std::byte> head, const Layout& layout) {
  const auto& at = layout.unicode;
  const auto state = FieldAt<uint32_t>(head, at.state);
  UnicodeHead result;
  result.length = FieldAt<uint64_t>(head, at.length);
  result.kind = state >> at.kind_shift & 7;
  const bool compact = (state >> at.compact_bit & 1) != 0;
  const bool ascii = (state >> at.ascii_bit & 1) != 0;
  if (result.length >= (uint64_t{1} << 40)) return std::nullopt;
  if (result.kind != 1 && result.kind != 2 && result.kind != 4) return std::nullopt;
  if (ascii && result.kind != 1) return std::nullopt;
  result.data = !compact ? at.any_data : ascii ? at.ascii_data : at.compact_data;
  result.elsewhere = !compact;
  return result;
}

namespace {

// Where the texts lie; 0: no string, or it cannot be told.
std::vector<uint64_t> PlacesOf(MemoryReader& memory, std::span<const uint64_t> addresses,
                               const std::vector<UnicodeHead>& heads) {
  std::vector<uint64_t> places(addresses.size());
  std::vector<Segment> segments(addresses.size());
  bool any_elsewhere = false;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (heads[i].kind == 0) continue;
    if (heads[i].elsewhere) {
      segments[i] = {addresses[i] + heads[i].data, &places[i], sizeof(places[i])};
      any_elsewhere = true;
    } else {
      places[i] = addresses[i] + heads[i].data;
    }
  }
  if (any_elsewhere) memory.Read(segments);
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (heads[i].elsewhere && !segments[i].ok) places[i] = 0;
  }
  return places;
}

}  // namespace

std::string ToUtf8(std::span<const std::byte> text, uint32_t kind) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at + kind <= text.size(); at += kind) {
    uint32_t point = 0;
    std::memcpy(&point, text.data() + at, kind);
    AppendUtf8(point, &result);
  }
  return result;
}

std::vector<std::optional<std::string>> ReadStrings(MemoryReader& memory, const Layout& layout,
                                                    std::span<const uint64_t> addresses, size_t most) {
  std::vector<std::array<std::byte, kUnicodeHeadBytes>> heads(addresses.size());
  std::vector<Segment> segments;
  segments.reserve(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) segments.push_back({addresses[i], heads[i].data(), heads[i].size()});
  memory.Read(segments);

  std::vector<UnicodeHead> decoded(addresses.size());
  std::vector<std::vector<std::byte>> texts(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto head = segments[i].ok ? DecodeUnicodeHead(heads[i], layout) : std::nullopt;
    if (head) decoded[i] = *head;
  }
  const std::vector<uint64_t> places = PlacesOf(memory, addresses, decoded);
  for (size_t i = 0; i < addresses.size(); ++i) {
    segments[i] = {};
    if (places[i] == 0) continue;
    texts[i].resize(std::min<uint64_t>(decoded[i].length, most) * decoded[i].kind);
    segments[i] = {places[i], texts[i].data(), texts[i].size()};
  }
  memory.Read(segments);

  std::vector<std::optional<std::string>> result(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (places[i] == 0 || !segments[i].ok) continue;
    result[i] = ToUtf8(texts[i], decoded[i].kind);
    if (decoded[i].length > most) *result[i] += "…";
  }
  return result;
}

std::optional<std::string> ReadString(MemoryReader& memory, const Layout& layout, uint64_t address, size_t most) {
  return ReadStrings(memory, layout, {&address, 1}, most)[0];
}

std::optional<std::vector<std::byte>> ReadBytes(MemoryReader& memory, const Layout& layout, uint64_t address,
                                                size_t most) {
  if (!IsPlausiblePointer(address)) return std::nullopt;
  const auto size = memory.Get<uint64_t>(address + layout.bytes.size);
  if (!size || *size > most) return std::nullopt;
  std::vector<std::byte> bytes(*size);
  if (!bytes.empty() && !memory.ReadOne(address + layout.bytes.data, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace wf::cpython
