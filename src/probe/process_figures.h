// What /proc tells about one process, for the standard process_* metrics. Needs no privilege for processes of the same
// user; a figure that cannot be read is absent.
#ifndef WF_PROBE_PROCESS_FIGURES_H_
#define WF_PROBE_PROCESS_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace wf::probe {

struct ProcessFigures {
  bool alive = false;  // found at all; a zombie is
  int64_t start_ticks = 0;
  std::optional<double> cpu_seconds;         // in ticks of mostly 10 ms
  std::optional<double> start_time_seconds;  // since the Unix epoch
  std::optional<int64_t> resident_bytes;
  std::optional<int64_t> virtual_bytes;
  std::optional<double> virtual_max_bytes;  // 2^64 - 1: no limit, as other exporters write it
  std::optional<int64_t> open_fds;
  std::optional<int64_t> max_fds;
  std::optional<int64_t> threads;
};

ProcessFigures ReadProcessFigures(int32_t pid, const std::string& root = "");

}  // namespace wf::probe

#endif  // WF_PROBE_PROCESS_FIGURES_H_
