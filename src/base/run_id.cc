#include "base/run_id.h"

#include <sys/random.h>

#include <mutex>

#include "base/check.h"
#include "base/clock.h"

namespace wf::base {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

int DigitOf(char c) {
  if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  const size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

void FillRandom(uint8_t* out, size_t size) {
  while (size > 0) {
    const ssize_t got = getrandom(out, size, 0);
    WF_CHECK(got > 0);
    out += got;
    size -= static_cast<size_t>(got);
  }
}

// Adds one to a big-endian number; the carry out of the first byte is dropped (once in 2^128).
void Increment(std::array<uint8_t, 16>& bytes) {
  for (size_t i = bytes.size(); i-- > 0;) {
    if (++bytes[i] != 0) return;
  }
}

}  // namespace

RunId RunId::Make() {
  static std::mutex mutex;
  static RunId last;
  RunId id;
  const auto ms = static_cast<uint64_t>(WallNs() / 1'000'000);
  for (size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<uint8_t>(ms >> (8 * (5 - i)));
  FillRandom(id.bytes.data() + 6, 10);
  const std::lock_guard lock(mutex);
  if (id <= last) {
    id = last;
    Increment(id.bytes);
  }
  last = id;
  return id;
}

std::string RunId::ToString() const {
  // 26 digits hold 130 bits: the first digit carries the top 3 bits.
  std::string text(26, '0');
  for (size_t digit = 0; digit < 26; ++digit) {
    unsigned value = 0;
    for (int bit = 0; bit < 5; ++bit) {
      const int index = static_cast<int>(digit) * 5 + bit - 2;
      const unsigned one = index < 0 ? 0 : (bytes[static_cast<size_t>(index) / 8] >> (7 - index % 8)) & 1U;
      value = value << 1 | one;
    }
    text[digit] = kAlphabet[value];
  }
  return text;
}

std::optional<RunId> RunId::Parse(std::string_view text) {
  if (text.size() != 26) return std::nullopt;
  RunId id;
  for (size_t digit = 0; digit < 26; ++digit) {
    const int value = DigitOf(text[digit]);
    if (value < 0 || (digit == 0 && value > 7)) return std::nullopt;
    for (int bit = 0; bit < 5; ++bit) {
      const int index = static_cast<int>(digit) * 5 + bit - 2;
      if (index < 0 || ((value >> (4 - bit)) & 1) == 0) continue;
      id.bytes[static_cast<size_t>(index) / 8] |= static_cast<uint8_t>(1U << (7 - index % 8));
    }
  }
  return id;
}

}  // namespace wf::base
