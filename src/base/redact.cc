#include "base/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace wf::base {
namespace {

constexpr std::string_view kStars = "***";

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsKeyChar(char c) { return IsAlnum(c) || c == '_' || c == '-'; }
bool IsTokenChar(char c) { return IsKeyChar(c) || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'; }
bool IsNameChar(char c) { return IsKeyChar(c) || c == '.'; }
char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// "apiKey_v2" -> api, key, v2; lower case.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  char previous = '\0';
  for (const char c : name) {
    const bool is_upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    const bool starts_word = is_upper && std::islower(static_cast<unsigned char>(previous)) != 0;
    if ((!IsAlnum(c) || starts_word) && !words.back().empty()) words.emplace_back();
    if (IsAlnum(c)) words.back() += Lower(c);
    previous = c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), word) != set.end();
}

struct Shape {
  std::string_view prefix;
  size_t least;  // characters after the prefix
};

// Prefixes that their makers reserved for keys.
constexpr std::array kShapes = {
    Shape{"AKIA", 16},  Shape{"ASIA", 16},  Shape{"ghp_", 30},        Shape{"gho_", 30},   Shape{"ghu_", 30},
    Shape{"ghs_", 30},  Shape{"ghr_", 30},  Shape{"github_pat_", 30}, Shape{"glpat-", 18}, Shape{"xoxb-", 16},
    Shape{"xoxp-", 16}, Shape{"xoxa-", 16}, Shape{"sk-", 24},         Shape{"hf_", 30},    Shape{"AIza", 35},
};

size_t RunLength(std::string_view text, size_t from, bool (*accepts)(char)) {
  size_t at = from;
  while (at < text.size() && accepts(text[at])) ++at;
  return at - from;
}

// Length of a key of a known shape that begins at `at`; 0: none.
size_t KeyLengthAt(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  for (const Shape& shape : kShapes) {
    if (!rest.starts_with(shape.prefix)) continue;
    const size_t length = RunLength(rest, shape.prefix.size(), &IsKeyChar);
    if (length >= shape.least) return shape.prefix.size() + length;
  }
  // JSON web token: three base64url parts; the first is an object, so it begins with '{"' = eyJ.
  if (rest.starts_with("eyJ")) {
    const size_t header = RunLength(rest, 0, &IsKeyChar);
    if (header < 10 || header >= rest.size() || rest[header] != '.') return 0;
    const size_t payload = RunLength(rest, header + 1, &IsKeyChar);
    const size_t second_dot = header + 1 + payload;
    if (payload < 4 || second_dot >= rest.size() || rest[second_dot] != '.') return 0;
    return second_dot + 1 + RunLength(rest, second_dot + 1, &IsKeyChar);
  }
  return 0;
}

std::string HideKeys(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const bool at_word_start = at == 0 || !IsAlnum(text[at - 1]);
    const size_t length = at_word_start && IsAlnum(text[at]) ? KeyLengthAt(text, at) : 0;
    if (length > 0) {
      out += kStars;
      at += length;
    } else {
      out += text[at++];
    }
  }
  return out;
}

// The body between the BEGIN and END lines of a PEM private key; to the end of the text when END is missing.
std::string HidePem(std::string text) {
  size_t from = 0;
  while ((from = text.find("-----BEGIN ", from)) != std::string::npos) {
    const size_t label = from + 11;
    const size_t label_end = text.find("-----", label);
    if (label_end == std::string::npos) break;
    if (text.substr(label, label_end - label).find("PRIVATE KEY") == std::string::npos) {
      from = label_end;
      continue;
    }
    const size_t body = label_end + 5;
    const size_t end = std::min(text.find("-----END ", body), text.size());
    text.replace(body, end - body, kStars);
    from = body + kStars.size();
  }
  return text;
}

// scheme://user:password@host
std::string HideUrlPasswords(std::string text) {
  size_t from = 0;
  while ((from = text.find("://", from)) != std::string::npos) {
    from += 3;
    const size_t authority_end = std::min(text.find_first_of("/?# \t\r\n\"'<>", from), text.size());
    const std::string_view authority = std::string_view(text).substr(from, authority_end - from);
    const size_t at_sign = authority.rfind('@');
    if (at_sign == std::string_view::npos) continue;
    const size_t colon = authority.substr(0, at_sign).find(':');
    if (colon == std::string_view::npos || colon + 1 == at_sign) continue;
    text.replace(from + colon + 1, at_sign - colon - 1, kStars);
  }
  return text;
}

std::string HideBearer(std::string text) {
  for (const std::string_view word : {"Bearer ", "bearer ", "Basic "}) {
    size_t from = 0;
    while ((from = text.find(word, from)) != std::string::npos) {
      from += word.size();
      const size_t length = RunLength(text, from, &IsTokenChar);
      if (length < 12) continue;
      text.replace(from, length, kStars);
    }
  }
  return text;
}

// End of the value that starts at `from`: a quoted string keeps its quotes outside of [begin, end).
std::pair<size_t, size_t> ValueRange(std::string_view text, size_t from) {
  const char quote = text[from];
  if (quote == '"' || quote == '\'') {
    size_t end = from + 1;
    while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
    return {from + 1, std::min(end, text.size())};
  }
  return {from, std::min(text.find_first_of(" \t\r\n,;&}])\"'", from), text.size())};
}

// "name": "value", name=value, --name=value. Values that open a list or object are left: their members are looked at.
std::string HideNamedValues(std::string text) {
  size_t from = 0;
  while ((from = text.find_first_of("=:", from)) != std::string::npos) {
    const size_t sign = from++;
    const bool is_equals = text[sign] == '=';
    size_t name_end = sign;
    const bool is_quoted = name_end > 0 && (text[name_end - 1] == '"' || text[name_end - 1] == '\'');
    if (is_quoted) --name_end;
    if (!is_equals && !is_quoted) continue;  // "Error: …", "12:30" and URLs are prose
    size_t name_start = name_end;
    while (name_start > 0 && IsNameChar(text[name_start - 1])) --name_start;
    if (!IsSecretName(std::string_view(text).substr(name_start, name_end - name_start))) continue;
    const size_t value = text.find_first_not_of(' ', from);
    if (value == std::string::npos || text[value] == '{' || text[value] == '[' || text[value] == '=') continue;
    const auto [begin, end] = ValueRange(text, value);
    if (begin == end || std::string_view(text).substr(begin, end - begin) == "null") continue;
    // Outside quotes a bare *** would not be JSON.
    const bool is_bare_json = !is_equals && begin == value;
    const std::string stars = is_bare_json ? "\"***\"" : std::string(kStars);
    text.replace(begin, end - begin, stars);
    from = begin + stars.size();
  }
  return text;
}

}  // namespace

bool IsSecretName(std::string_view name) {
  if (name.size() < 3 || name.size() > 256) return false;
  const std::vector<std::string> words = WordsOf(name);
  std::string joined;
  for (const std::string& word : words) joined += word;
  for (const std::string_view part :
       {"password", "passwd", "passphrase", "secret", "apikey", "credential", "privatekey", "accesskey"}) {
    if (joined.find(part) != std::string::npos) return true;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (IsOneOf(words[i], {"auth", "authorization", "pwd"})) return true;
    if (!words[i].ends_with("token")) continue;
    // "token_limit" counts tokens of a text; "token_file" is where one lies, and hidden all the same.
    const bool counts =
        i + 1 < words.size() && IsOneOf(words[i + 1], {"count", "limit", "ids", "id", "length", "budget", "size",
                                                       "type", "types", "embedding", "level"});
    const bool special = i > 0 && IsOneOf(words[i - 1], {"pad", "eos", "bos", "unk", "mask", "cls", "sep", "per"});
    if (!counts && !special) return true;
  }
  return false;
}

std::string RedactText(std::string_view text) {
  return HideNamedValues(HideBearer(HideUrlPasswords(HidePem(HideKeys(text)))));
}

std::string RedactParam(std::string_view name, std::string_view json) {
  if (IsSecretName(name) && json != "null") return "\"***\"";
  return RedactText(json);
}

std::vector<std::string> RedactArgv(const std::vector<std::string>& argv) {
  std::vector<std::string> out;
  out.reserve(argv.size());
  bool hide_next = false;
  for (const std::string& argument : argv) {
    if (hide_next && !argument.starts_with("--")) {
      out.emplace_back(kStars);
      hide_next = false;
      continue;
    }
    const bool is_bare_option = argument.starts_with('-') && argument.find('=') == std::string::npos;
    hide_next = is_bare_option && IsSecretName(argument);
    const size_t equals = argument.find('=');
    // The whole rest of the argument is the value, spaces included.
    if (equals != std::string::npos && IsSecretName(std::string_view(argument).substr(0, equals))) {
      out.push_back(argument.substr(0, equals + 1) + std::string(kStars));
    } else {
      out.push_back(RedactText(argument));
    }
  }
  return out;
}

}  // namespace wf::base
