#include "profile/escape.h"

#include <fmt/format.h>

namespace wf::profile {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct Decoded {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// The character at the start of `text`. Overlong forms, surrogates and what is above U+10FFFF are no UTF-8 (RFC 3629).
Decoded Decode(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  uint32_t code = first & (0x7FU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    code = code << 6 | (next & 0x3FU);
  }
  const bool is_overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (is_overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
  return {code, bytes};
}

bool IsControl(uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// Line and paragraph separators, and what changes the direction of writing.
bool IsLayout(uint32_t code) {
  return (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F;
}

bool IsNoCharacter(uint32_t code) { return (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF); }

void AppendVisible(std::string& out, uint32_t code) {
  switch (code) {
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

bool IsCleanText(std::string_view text, size_t most) {
  if (text.size() > most) return false;
  while (!text.empty()) {
    const Decoded next = Decode(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string CleanText(std::string_view text, size_t most) {
  std::string out;
  size_t fits = 0;  // where the text would be cut to have room for the ellipsis
  while (!text.empty()) {
    if (out.size() + kEllipsis.size() <= most) fits = out.size();
    const Decoded next = Decode(text);
    out += next.bytes == 0 ? kReplacement : text.substr(0, next.bytes);
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
    if (out.size() <= most) continue;
    out.resize(fits);
    out += kEllipsis;
    break;
  }
  return out;
}

std::string ValidText(std::string_view text) { return CleanText(text, SIZE_MAX); }

std::string Visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = Decode(text);
    if (next.bytes == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    if (IsControl(next.code) || IsLayout(next.code) || IsNoCharacter(next.code)) {
      AppendVisible(out, next.code);
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string XmlEscaped(std::string_view text) {
  std::string out;
  for (const char c : Visible(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

void AppendJson(std::string& out, std::string_view text) {
  std::string valid;
  if (!IsCleanText(text, SIZE_MAX)) text = valid = ValidText(text);
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view three = text.substr(i, 3);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
    } else if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
      out += three[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string JsonQuoted(std::string_view text) {
  std::string out;
  AppendJson(out, text);
  return out;
}

}  // namespace wf::profile
