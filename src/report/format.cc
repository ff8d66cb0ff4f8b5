#include "report/format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

namespace wf::report {
namespace {

std::string Localised(std::string text, Language language) {
  if (language == Language::kFrench) std::replace(text.begin(), text.end(), '.', ',');
  return text;
}

// Three significant digits without exponent; 999.6 becomes 1000.
std::string ThreeDigits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude < 9.995) return fmt::format("{:.2f}", value);
  if (magnitude < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string LongDuration(double ns) {
  const auto seconds = static_cast<int64_t>(std::llround(ns / 1e9));
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  const int64_t minutes = (seconds + 30) / 60;
  if (minutes < 48 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {:02} h", minutes / 1440, minutes / 60 % 24);
}

// The code point that starts at text[*i]; moves *i behind it. A byte that starts none stands for itself.
uint32_t NextCodePoint(std::string_view text, size_t* i) {
  const auto first = static_cast<unsigned char>(text[*i]);
  size_t length = 1;
  uint32_t code = first;
  if (first >= 0xF0 && first < 0xF8) {
    length = 4;
    code = first & 0x07U;
  } else if (first >= 0xE0) {
    length = 3;
    code = first & 0x0FU;
  } else if (first >= 0xC0) {
    length = 2;
    code = first & 0x1FU;
  }
  if (first < 0xC0 || first >= 0xF8 || *i + length > text.size()) {
    ++*i;
    return first;
  }
  for (size_t k = 1; k < length; ++k) {
    const auto next = static_cast<unsigned char>(text[*i + k]);
    if ((next & 0xC0U) != 0x80U) {
      ++*i;
      return first;
    }
    code = (code << 6U) | (next & 0x3FU);
  }
  *i += length;
  return code;
}

struct Range {
  uint32_t first;
  uint32_t last;
};
// Combining marks and joiners take no column, East Asian wide letters and emoji take two (Unicode TR 11, in the
// coarse blocks that terminals agree on).
constexpr std::array kNarrow = {Range{0x300, 0x36F}, Range{0x200B, 0x200F}, Range{0xFE00, 0xFE0F}};
constexpr std::array kWide = {Range{0x1100, 0x115F},   Range{0x2E80, 0xA4CF},   Range{0xAC00, 0xD7A3},
                              Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
                              Range{0x1F300, 0x1F64F}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <size_t N>
bool In(const std::array<Range, N>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](Range r) { return code >= r.first && code <= r.last; });
}

size_t ColumnsOf(uint32_t code) {
  if (In(kNarrow, code)) return 0;
  return In(kWide, code) ? 2 : 1;
}

std::string Escaped(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const uint32_t code = NextCodePoint(text, &i);
    const bool control = code < 0x20 || code == 0x7F || (code >= 0x80 && code < 0xA0);
    if (keep_lines && (code == '\n' || code == '\t')) {
      result += static_cast<char>(code);
    } else if (code == '\n' || code == '\t') {
      result += ' ';
    } else if (control || (i - start == 1 && code >= 0x80)) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += text.substr(start, i - start);
    }
  }
  return result;
}

}  // namespace

Language LanguageOf(std::string_view locale) {
  return locale.substr(0, 2) == "fr" && (locale.size() == 2 || locale[2] == '_' || locale[2] == '.')
             ? Language::kFrench
             : Language::kEnglish;
}

std::string Paint(const Style& style, Tone tone, std::string_view text) {
  if (!style.color || tone == Tone::kPlain) return std::string(text);
  std::string_view code = "1";
  if (tone == Tone::kGood) code = "32";
  if (tone == Tone::kBad) code = "31";
  if (tone == Tone::kFaint) code = "2";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Duration(double ns, Language language) {
  const double magnitude = std::abs(ns);
  if (magnitude == 0) return "0 s";
  if (magnitude < 999.5) return fmt::format("{:.0f} ns", ns);
  if (magnitude < 999.5e3) return Localised(ThreeDigits(ns / 1e3), language) + " µs";
  if (magnitude < 999.5e6) return Localised(ThreeDigits(ns / 1e6), language) + " ms";
  if (magnitude < 59.95e9) return Localised(ThreeDigits(ns / 1e9), language) + " s";
  return LongDuration(ns);
}

std::string Bytes(double bytes, Language language) {
  static constexpr std::array kEnglish = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  static constexpr std::array kFrench = {"o", "Kio", "Mio", "Gio", "Tio", "Pio"};
  size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kEnglish.size()) {
    bytes /= 1024;
    ++unit;
  }
  const std::string number = unit == 0 ? fmt::format("{:.0f}", bytes) : ThreeDigits(bytes);
  return Localised(number, language) + " " + (language == Language::kFrench ? kFrench : kEnglish)[unit];
}

std::string Number(double value, Language language) { return Localised(ThreeDigits(value), language); }

std::string Percent(double share, Language language) {
  const double percent = share * 100;
  const bool small = percent > 0 && percent < 0.95;
  return Localised(small ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent), language);
}

std::string RatioText(double ratio, Language language) { return Localised(ThreeDigits(ratio), language) + "x"; }

std::string Seconds(double ns, Language language) {
  const double seconds = ns / 1e9;
  if (seconds == 0) return "0";
  if (std::abs(seconds) >= 0.1) return Localised(ThreeDigits(seconds), language);
  // Two significant digits: what was measured never reads as zero.
  const int decimals = static_cast<int>(std::ceil(-std::log10(std::abs(seconds)))) + 1;
  return Localised(fmt::format("{:.{}f}", seconds, std::min(decimals, 9)), language);
}

std::string Marked(profile::Quality quality, std::string text) {
  switch (quality) {
    case profile::Quality::kAbsent: return std::string(kAbsentMark);
    case profile::Quality::kMeasured: return text;
    case profile::Quality::kEstimated: return "~" + text;
    case profile::Quality::kShared: return "≈" + text;
  }
  return text;
}

std::string LocalTime(int64_t wall_ns) {
  if (wall_ns == 0) return std::string(kAbsentMark);
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

std::string IsoTime(int64_t wall_ns) {
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", parts, wall_ns / 1'000'000 % 1000);
}

std::string OneLine(std::string_view text) { return Escaped(text, false); }
std::string Lines(std::string_view text) { return Escaped(text, true); }

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) width += ColumnsOf(NextCodePoint(text, &i));
  return width;
}

std::string Shorten(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t used = 0;
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    used += ColumnsOf(NextCodePoint(text, &i));
    if (used > width - 1) {
      end = start;
      break;
    }
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string NodeName(std::string_view task, int64_t map_index) {
  return map_index < 0 ? OneLine(task) : fmt::format("{}[{}]", OneLine(task), map_index);
}

}  // namespace wf::report
