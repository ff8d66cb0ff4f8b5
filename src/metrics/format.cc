#include "metrics/format.h"

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace wf::metrics {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 && lead <= 0xF4  ? 4
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                                                      : 0;
  if (length == 0 || text.size() < length) return 0;
  // The second byte is narrower after some leads: no overlong forms, no surrogates, nothing above U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string_view Name(Type type) {
  switch (type) {
    case Type::kCounter: return "counter";
    case Type::kGauge: return "gauge";
    case Type::kHistogram: return "histogram";
  }
  return "unknown";
}

bool IsMetricName(std::string_view name) {
  if (name.empty() || IsDigit(name[0])) return false;
  for (char c : name) {
    if (!IsAlpha(c) && !IsDigit(c) && c != ':') return false;
  }
  return true;
}

bool IsLabelName(std::string_view name) {
  return IsMetricName(name) && name.find(':') == std::string_view::npos && !name.starts_with("__");
}

std::string QualifiedName(std::string_view prefix, std::string_view name) {
  if (prefix.empty()) return std::string(name);
  return std::string(prefix) + "_" + std::string(name);
}

bool IsPageText(std::string_view text) {
  while (!text.empty()) {
    const size_t length = text[0] == '\0' ? 0 : SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ToPageText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = text[0] == '\0' ? 0 : SequenceLength(text);
    out.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

void AppendNumber(std::string* out, uint64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  out->append(digits, end.ptr);
}

void AppendNumber(std::string* out, double value) {
  if (std::isnan(value)) {
    out->append("NaN");
    return;
  }
  if (std::isinf(value)) {
    out->append(value > 0 ? "+Inf" : "-Inf");
    return;
  }
  char digits[32];
  constexpr double kWhole = 9007199254740992.0;  // 2^53
  std::to_chars_result end{};
  const bool negative_zero = value == 0 && std::signbit(value);
  if (!negative_zero && std::fabs(value) < kWhole && value == static_cast<double>(static_cast<int64_t>(value))) {
    end = std::to_chars(digits, digits + sizeof digits, static_cast<int64_t>(value));
  } else {
    end = std::to_chars(digits, digits + sizeof digits, value);
  }
  out->append(digits, end.ptr);
}

std::string BoundText(double bound) {
  if (std::isinf(bound)) return bound > 0 ? "+Inf" : "-Inf";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, bound, std::chars_format::general);
  std::string text(digits, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void AppendEscaped(std::string* out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\\') {
      out->append("\\\\");
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '"' && quotes) {
      out->append("\\\"");
    } else {
      out->push_back(c);
    }
  }
}

std::string LabelText(std::span<const std::string> names, std::span<const std::string> values) {
  WF_CHECK(names.size() == values.size());
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) out.push_back(',');
    out.append(names[i]).append("=\"");
    AppendEscaped(&out, values[i], true);
    out.push_back('"');
  }
  return out;
}

}  // namespace wf::metrics
