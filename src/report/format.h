// Figures and names as people read them.
#ifndef WF_REPORT_FORMAT_H_
#define WF_REPORT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/model.h"
#include "report/style.h"

namespace wf::report {

inline constexpr std::string_view kAbsentMark = "—";

// Three significant digits up to a minute, then minutes and hours: "12.3 µs", "1.83 s", "2 min 05 s", "3 h 07 min".
std::string Duration(double ns, Language language);
// Binary units: "512 B", "412 MiB", "1.83 GiB" ("Mio" in French).
std::string Bytes(double bytes, Language language);
// "0.99", "12.4", "3,140": two decimals below 10, one below 100.
std::string Number(double value, Language language);
// "66 %", "0.4 %".
std::string Percent(double share, Language language);
// "0.60x".
std::string RatioText(double ratio, Language language);
// Seconds with two or three significant digits and without a unit, for columns that carry it: "29.9", "0.0052".
std::string Seconds(double ns, Language language);

// "—" when absent, "~" before an estimate, "≈" before what is shared by a group.
std::string Marked(profile::Quality quality, std::string text);

// "2026-12-02 04:05:33" in local time; "—" for 0.
std::string LocalTime(int64_t wall_ns);
// "2026-12-02T04:05:33.123Z".
std::string IsoTime(int64_t wall_ns);

// Names and messages come from users and may hold anything: control characters become "\x1b", so that nothing can move
// the cursor; a newline becomes a space.
std::string OneLine(std::string_view text);
// The same for texts of several lines: newlines and tabs stay.
std::string Lines(std::string_view text);

// Columns that `text` takes on a terminal. UTF-8; bytes that are none count one each.
size_t DisplayWidth(std::string_view text);
// At most `width` columns, the rest replaced by "…".
std::string Shorten(std::string_view text, size_t width);

// "train" or "train[3]".
std::string NodeName(std::string_view task, int64_t map_index);

}  // namespace wf::report

#endif  // WF_REPORT_FORMAT_H_
