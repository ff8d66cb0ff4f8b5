// Small parsers for the text of /proc files, without allocation: the readings' hot path uses them.
#ifndef WF_PROBE_PROC_TEXT_H_
#define WF_PROBE_PROC_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wf::probe {

// The decimal number at the start of `text` after blanks; `fallback` when there is none or it does not fit. `used`, if
// given, becomes the number of characters read.
int64_t ParseNumber(std::string_view text, int64_t fallback, size_t* used = nullptr);

// The number after `name` (with its colon) in a text of "Name:   123" lines; `fallback` when there is no such line.
int64_t FieldNumber(std::string_view text, std::string_view name, int64_t fallback);

// What pread gives from the start of `fd` into `buffer`; empty when it cannot be read.
std::string_view ReadStart(int fd, char* buffer, size_t size);

// A "VmHWM:  123 kB" field of the open /proc/<pid>/status, in bytes; -1 when it cannot be read.
int64_t ReadKilobytesField(int fd, std::string_view name);

}  // namespace wf::probe

#endif  // WF_PROBE_PROC_TEXT_H_
