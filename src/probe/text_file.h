// Whole small files of /proc and /sys, for what is read once; the readings have their own road without allocation.
#ifndef WF_PROBE_TEXT_FILE_H_
#define WF_PROBE_TEXT_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wf::probe {

// The file's text, at most 256 KiB of it, without trailing newlines; nullopt when it cannot be opened or read, with
// errno in `*error` if given.
std::optional<std::string> ReadText(const std::string& path, int* error = nullptr);

// The number a file consists of; nullopt when it is not there or holds something else ("max").
std::optional<int64_t> ReadNumber(const std::string& path);

// The parts of `text` between separators; empty parts kept.
std::vector<std::string_view> Split(std::string_view text, char separator);

}  // namespace wf::probe

#endif  // WF_PROBE_TEXT_FILE_H_
