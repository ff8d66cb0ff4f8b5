#include "cpython/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "cpython/dict.h"
#include "cpython/unicode.h"

namespace wf::cpython {
namespace {

// Py_TPFLAGS_* (Include/object.h), the same in every version.
constexpr uint64_t kHeapType = uint64_t{1} << 9;
constexpr uint64_t kLong = uint64_t{1} << 24;
constexpr uint64_t kList = uint64_t{1} << 25;
constexpr uint64_t kTuple = uint64_t{1} << 26;
constexpr uint64_t kBytes = uint64_t{1} << 27;
constexpr uint64_t kUnicode = uint64_t{1} << 28;
constexpr uint64_t kDict = uint64_t{1} << 29;

constexpr std::string_view kMore = "...";
constexpr std::string_view kUnreadable = "<unreadable>";

std::string Hex(uint64_t value) {
  char text[16];
  return "0x" + std::string(text, std::to_chars(text, text + sizeof(text), value, 16).ptr);
}

void AppendEscaped(uint8_t byte, std::string* text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (byte == '\n' || byte == '\r' || byte == '\t') {
    *text += byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t";
  } else {
    *text += "\\x";
    *text += kDigits[byte >> 4];
    *text += kDigits[byte & 15];
  }
}

// As repr() quotes: with ' unless that occurs and " does not. `wide`: bytes from 0x80 on are UTF-8 and stay.
std::string Quoted(std::string_view content, bool wide, bool cut) {
  const bool has_single = content.find('\'') != std::string_view::npos;
  const char quote = has_single && content.find('"') == std::string_view::npos ? '"' : '\'';
  std::string text(1, quote);
  for (size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<uint8_t>(content[i]);
    if (content[i] == quote || content[i] == '\\') {
      text += '\\';
      text += content[i];
    } else if (wide && byte == 0xC2 && i + 1 < content.size() && static_cast<uint8_t>(content[i + 1]) < 0xA0) {
      AppendEscaped(static_cast<uint8_t>(content[++i]), &text);  // the second set of control characters
    } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !wide)) {
      AppendEscaped(byte, &text);
    } else {
      text += content[i];
    }
  }
  if (cut) text += kMore;
  return text + quote;
}

// Digits of 30 bits, least first, to decimal.
std::string Decimal(std::vector<uint32_t> digits) {
  constexpr uint64_t kChunk = 1'000'000'000;
  std::string text;
  while (!digits.empty()) {
    uint64_t rest = 0;
    for (size_t i = digits.size(); i-- > 0;) {
      rest = (rest << 30) | (digits[i] & 0x3FFFFFFF);
      digits[i] = static_cast<uint32_t>(rest / kChunk);
      rest %= kChunk;
    }
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    for (int i = 0; i < 9 && (!digits.empty() || rest != 0); ++i, rest /= 10) {
      text += static_cast<char>('0' + rest % 10);
    }
  }
  std::reverse(text.begin(), text.end());
  return text.empty() ? "0" : text;
}

}  // namespace

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  const auto shortest = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
  const std::string_view scientific(text, static_cast<size_t>(shortest.ptr - text));
  int exponent = 0;
  const size_t e = scientific.find('e');
  const size_t sign = scientific[e + 1] == '+' ? 2 : 1;
  std::from_chars(scientific.data() + e + sign, scientific.data() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto fixed = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed);
  std::string result(text, fixed.ptr);
  return result.find('.') == std::string::npos ? result + ".0" : result;
}

std::string ValueText::Of(uint64_t object) {
  text_.clear();
  objects_ = 0;
  Append(object, 0);
  return std::move(text_);
}

std::optional<std::string> ValueText::TypeName(uint64_t object) {
  auto type = TypeOf(object);
  if (!type) return std::nullopt;
  return std::move(type->name);
}

std::optional<ValueText::Type> ValueText::TypeOf(uint64_t object) {
  constexpr size_t kLongest = 100;
  if (!IsPlausiblePointer(object)) return std::nullopt;
  const auto address = memory_.Get<uint64_t>(object + layout_.object.type);
  if (!address || !IsPlausiblePointer(*address)) return std::nullopt;
  const auto flags = memory_.Get<uint64_t>(*address + layout_.type.flags);
  const auto name = memory_.Get<uint64_t>(*address + layout_.type.name);
  if (!flags || !name || *name == 0) return std::nullopt;
  Type type;
  type.flags = *flags;
  std::array<char, kLongest> text{};
  // The name may lie at the end of what can be read.
  size_t bytes = text.size();
  while (bytes > 0 && !memory_.ReadOne(*name, text.data(), bytes)) bytes /= 2;
  const std::string_view whole(text.data(), std::find(text.data(), text.data() + bytes, '\0') - text.data());
  const size_t dot = whole.rfind('.');
  for (const char c : whole.substr(dot == std::string_view::npos ? 0 : dot + 1)) {
    const auto byte = static_cast<uint8_t>(c);
    type.name += byte > 0x20 && byte < 0x7F ? c : '?';
  }
  if (type.name.empty()) return std::nullopt;
  return type;
}

void ValueText::Append(uint64_t object, size_t depth) {
  if (IsFull() || depth > limits_.depth) {
    text_ += kMore;
    return;
  }
  ++objects_;
  const auto type = TypeOf(object);
  if (!type) {
    text_ += kUnreadable;
    return;
  }
  const size_t before = text_.size();
  if (AppendKnown(object, *type, depth)) return;
  text_.resize(before);
  text_ += "<" + type->name + " at " + Hex(object) + ">";
}

// False when it is of no known type, or not what its type says.
bool ValueText::AppendKnown(uint64_t object, const Type& type, size_t depth) {
  const bool heap = (type.flags & kHeapType) != 0;
  const bool is_static_subclass = type.name != "bool" && type.name != "int" && type.name != "str" &&
                                  type.name != "bytes" && type.name != "list" && type.name != "tuple" &&
                                  type.name != "dict";
  const bool wrap = heap || is_static_subclass;
  const bool container = (type.flags & (kLong | kList | kTuple | kBytes | kUnicode | kDict)) != 0;
  if (!container) {
    if (heap) return false;
    return type.name == "set" || type.name == "frozenset" ? AppendSet(object, type.name, depth)
                                                          : AppendBuiltin(object, type.name);
  }
  if (wrap) text_ += type.name + "(";
  bool known = false;
  if ((type.flags & kLong) != 0) {
    known = AppendInteger(object, !heap && type.name == "bool");
  } else if ((type.flags & kUnicode) != 0) {
    known = AppendString(object);
  } else if ((type.flags & kBytes) != 0) {
    known = AppendBytes(object);
  } else if ((type.flags & kDict) != 0) {
    known = AppendDict(object, depth);
  } else {
    known = AppendSequence(object, (type.flags & kList) != 0, depth);
  }
  if (wrap) text_ += ')';
  return known;
}

bool ValueText::AppendBuiltin(uint64_t object, const std::string& name) {
  if (name == "NoneType") {
    text_ += "None";
    return true;
  }
  if (name != "float") return false;
  const auto value = memory_.Get<double>(object + layout_.floating.value);
  if (value) text_ += FloatText(*value);
  return value.has_value();
}

bool ValueText::AppendInteger(uint64_t object, bool is_bool) {
  constexpr uint64_t kMostDigits = 64;
  const auto tag = memory_.Get<int64_t>(object + layout_.integer.tag);
  if (!tag) return false;
  const bool tagged = layout_.minor >= 12;
  const bool negative = tagged ? (*tag & 3) == 2 : *tag < 0;
  uint64_t count = tagged ? static_cast<uint64_t>(*tag) >> 3 : static_cast<uint64_t>(*tag);
  if (!tagged && negative) count = 0 - count;
  if (tagged && (*tag & 3) == 1) count = 0;
  if (count > kMostDigits) {
    if (count > uint64_t{1} << 40) return false;
    text_ += "<int of about " + std::to_string(count * 30) + " bits>";
    return true;
  }
  std::vector<uint32_t> digits(count);
  if (count != 0 && !memory_.ReadOne(object + layout_.integer.digits, digits.data(), count * 4)) return false;
  const std::string text = Decimal(std::move(digits));
  if (is_bool) {
    text_ += text == "0" ? "False" : "True";
  } else {
    text_ += (negative ? "-" : "") + text;
  }
  return true;
}

bool ValueText::AppendString(uint64_t object) {
  std::array<std::byte, kUnicodeHeadBytes> head{};
  if (!memory_.ReadOne(object, head.data(), head.size())) return false;
  const auto decoded = DecodeUnicodeHead(head, layout_);
  if (!decoded) return false;
  const size_t most = limits_.bytes > text_.size() ? limits_.bytes - text_.size() : 1;
  std::vector<std::byte> content(std::min<uint64_t>(decoded->length, most) * decoded->kind);
  uint64_t text = object + decoded->data;
  if (decoded->elsewhere) text = memory_.Get<uint64_t>(text).value_or(0);
  if (!content.empty() && !memory_.ReadOne(text, content.data(), content.size())) return false;
  text_ += Quoted(ToUtf8(content, decoded->kind), /*wide=*/true, decoded->length > most);
  return true;
}

bool ValueText::AppendBytes(uint64_t object) {
  const auto size = memory_.Get<uint64_t>(object + layout_.bytes.size);
  if (!size || *size > uint64_t{1} << 40) return false;
  const size_t most = limits_.bytes > text_.size() ? limits_.bytes - text_.size() : 1;
  std::string content(std::min<uint64_t>(*size, most), '\0');
  if (!content.empty() && !memory_.ReadOne(object + layout_.bytes.data, content.data(), content.size())) return false;
  text_ += "b" + Quoted(content, /*wide=*/false, *size > most);
  return true;
}

bool ValueText::AppendSequence(uint64_t object, bool is_list, size_t depth) {
  const auto size = memory_.Get<uint64_t>(object + (is_list ? layout_.list.size : layout_.tuple.size));
  if (!size || *size > uint64_t{1} << 40) return false;
  uint64_t items = object + layout_.tuple.items;
  if (is_list) items = memory_.Get<uint64_t>(object + layout_.list.items).value_or(0);
  std::vector<uint64_t> shown(std::min<uint64_t>(*size, limits_.items));
  if (!shown.empty() && !memory_.ReadOne(items, shown.data(), shown.size() * 8)) return false;
  text_ += is_list ? "[" : "(";
  for (size_t i = 0; i < shown.size() && !IsFull(); ++i) {
    if (i > 0) text_ += ", ";
    Append(shown[i], depth + 1);
    if (i + 1 < *size && (i + 1 == shown.size() || IsFull())) text_ += ", ...";
  }
  text_ += is_list ? "]" : *size == 1 ? ",)" : ")";
  return true;
}

bool ValueText::AppendDict(uint64_t object, size_t depth) {
  const auto used = memory_.Get<uint64_t>(object + layout_.dict.used);
  if (!used || *used > uint64_t{1} << 40) return false;
  // Entries that were removed leave holes, hence more than are shown.
  const auto entries = ReadDict(memory_, layout_, object, limits_.items * 4);
  if (entries.empty() && *used != 0) return false;
  text_ += '{';
  size_t shown = 0;
  for (; shown < entries.size() && shown < limits_.items && !IsFull(); ++shown) {
    if (shown > 0) text_ += ", ";
    Append(entries[shown].first, depth + 1);
    text_ += ": ";
    Append(entries[shown].second, depth + 1);
  }
  if (shown < *used) text_ += shown > 0 ? ", ..." : "...";
  text_ += '}';
  return true;
}

bool ValueText::AppendSet(uint64_t object, const std::string& name, size_t depth) {
  // PySetObject, the same in every version: fill, used, mask, table; an entry is a key and its hash. A key that was
  // removed leaves a mark with the hash -1.
  constexpr uint64_t kUsed = 24;
  constexpr size_t kMostSlots = 4096;
  std::array<uint64_t, 3> head{};  // used, mask, table
  if (!memory_.ReadOne(object + kUsed, head.data(), sizeof(head))) return false;
  const auto [used, mask, table] = head;
  if (used > mask || mask >= uint64_t{1} << 40) return false;
  std::vector<std::pair<uint64_t, int64_t>> slots(std::min<uint64_t>(mask + 1, kMostSlots));
  static_assert(sizeof(slots[0]) == 16);
  if (!memory_.ReadOne(table, slots.data(), slots.size() * 16)) return false;
  const bool bare = used != 0 && name == "set";
  text_ += bare ? "{" : used == 0 ? name + "(" : name + "({";
  uint64_t shown = 0;
  for (const auto& [key, hash] : slots) {
    if (key == 0 || hash == -1) continue;
    if (shown >= limits_.items || IsFull()) break;
    if (shown++ > 0) text_ += ", ";
    Append(key, depth + 1);
  }
  if (shown < used) text_ += shown > 0 ? ", ..." : "...";
  text_ += bare ? "}" : used == 0 ? ")" : "})";
  return true;
}

}  // namespace wf::cpython
