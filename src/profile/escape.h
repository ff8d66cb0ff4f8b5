// Texts from a watched program may hold anything. How they are made valid UTF-8 once, and escaped in each format.
#ifndef WF_PROFILE_ESCAPE_H_
#define WF_PROFILE_ESCAPE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace wf::profile {

// Whether `text` is valid UTF-8 of at most `most` bytes.
bool IsCleanText(std::string_view text, size_t most);
// Bytes that are no UTF-8 (surrogates too) become U+FFFD; what is longer than `most` bytes ends with "…" instead.
std::string CleanText(std::string_view text, size_t most);

// Of any length.
std::string ValidText(std::string_view text);

// All below take any bytes and give valid UTF-8.

// For formats of lines and for the eye: what would break a line, move a cursor or change the direction of writing is
// shown as \n, \t, \x1b, \u2028. A backslash stays as it is.
std::string Visible(std::string_view text);
// Text of XML 1.0 and of HTML, also inside double quotes; what XML forbids is made visible as above.
std::string XmlEscaped(std::string_view text);
// A JSON string with its quotes. ASCII controls are escaped, U+2028 and U+2029 too.
void AppendJson(std::string& out, std::string_view text);
std::string JsonQuoted(std::string_view text);

}  // namespace wf::profile

#endif  // WF_PROFILE_ESCAPE_H_
