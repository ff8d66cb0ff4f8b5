#include "cpython/line_table.h"

namespace wf::cpython {
namespace {

std::optional<int32_t> Plausible(int64_t line) {
  if (line < 0 || line > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(line);
}

std::optional<int32_t> LineInLnotab(std::span<const std::byte> table, int64_t line, int64_t at) {
  int64_t address = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    address += static_cast<uint8_t>(table[i]);
    if (address > at) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return Plausible(line);
}

std::optional<int32_t> LineInPairs(std::span<const std::byte> table, int64_t line, int64_t at) {
  constexpr int kNoLine = -128;
  int64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const int64_t delta{static_cast<int8_t>(table[i + 1])};
    end += static_cast<uint8_t>(table[i]);
    if (delta != kNoLine) line += delta;
    if (at < end) return delta == kNoLine ? std::nullopt : Plausible(line);
  }
  return std::nullopt;
}

// A number in groups of six bits, lowest first; bit 6 says that one more follows. The lowest bit of it is the sign.
int64_t SignedVarint(std::span<const std::byte> table, size_t at) {
  uint64_t value = 0;
  for (int shift = 0; at < table.size() && shift < 42; ++at, shift += 6) {
    const auto byte = static_cast<uint8_t>(table[at]);
    value |= uint64_t{byte & 0x3Fu} << shift;
    if ((byte & 0x40) == 0) break;
  }
  const auto magnitude = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

std::optional<int32_t> LineInLocations(std::span<const std::byte> table, int64_t line, int64_t at) {
  constexpr uint8_t kEntry = 0x80;
  enum Kind : uint8_t { kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15 };
  int64_t end = 0;
  for (size_t i = 0; i < table.size();) {
    const auto head = static_cast<uint8_t>(table[i]);
    const uint8_t kind = head >> 3 & 15;
    if (kind == kLong || kind == kNoColumns) line += SignedVarint(table, i + 1);
    if (kind >= kOneLine0 && kind <= kOneLine2) line += kind - kOneLine0;
    end += (int64_t{head} % 8 + 1) * 2;
    if (at < end) return kind == kNone ? std::nullopt : Plausible(line);
    do ++i;
    while (i < table.size() && (static_cast<uint8_t>(table[i]) & kEntry) == 0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int32_t> LineAt(std::span<const std::byte> table, uint32_t minor, int32_t first_line, int64_t at) {
  if (at < 0) return Plausible(first_line);
  if (minor <= 9) return LineInLnotab(table, first_line, at);
  return minor == 10 ? LineInPairs(table, first_line, at) : LineInLocations(table, first_line, at);
}

}  // namespace wf::cpython
