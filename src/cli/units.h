// Durations and sizes as people type them.
#ifndef WF_CLI_UNITS_H_
#define WF_CLI_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wf/status.h"

namespace wf::cli {

// Nanoseconds of "30s", "5m", "1h30m", "250ms", "30d", "2w"; a bare number is seconds. Not negative.
// Errors: kInvalidArgument, naming the text and the units.
Result<int64_t> ParseDuration(std::string_view text);

// Rounds per second of "100", "0.5", "250Hz", "1kHz"; from one an hour to a million a second.
// Errors: kInvalidArgument.
Result<double> ParseRate(std::string_view text);

// A process id, decimal or hexadecimal with 0x as py-spy takes it. Errors: kInvalidArgument, naming --pid.
Result<int32_t> ParsePid(std::string_view text);
// What to look at: a process, or, as 0, a program that is given with its arguments. `verb`: of the command, for the
// error when both are given or none. Errors: kInvalidArgument.
Result<int32_t> ParsePidOrProgram(std::string_view pid, const std::vector<std::string>& program, std::string_view verb);

// Bytes of "2GiB", "500M", "1.5G", "4096": K, M, G, T count by 1024 (as KiB does), kB, MB, GB, TB by 1000.
// Errors: kInvalidArgument.
Result<int64_t> ParseSize(std::string_view text);

// "key=value" at its first '='. Errors: kInvalidArgument when there is none or the key is empty.
Result<std::pair<std::string, std::string>> ParseKeyValue(std::string_view flag, std::string_view text);

}  // namespace wf::cli

#endif  // WF_CLI_UNITS_H_
