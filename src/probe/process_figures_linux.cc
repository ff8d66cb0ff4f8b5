#include <dirent.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <vector>

#include "probe/proc_text.h"
#include "probe/process_figures.h"
#include "probe/text_file.h"

namespace wf::probe {
namespace {

std::optional<int64_t> CountEntries(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), &closedir);
  if (entries == nullptr) return std::nullopt;
  int64_t count = 0;
  while (const dirent* entry = readdir(entries.get())) count += entry->d_name[0] == '.' ? 0 : 1;
  return count;
}

// The soft limit in a line of /proc/<pid>/limits: "Max open files            1024                 4096       files".
std::optional<double> SoftLimit(std::string_view limits, std::string_view name) {
  for (const std::string_view line : Split(limits, '\n')) {
    if (!line.starts_with(name)) continue;
    std::string_view value = line.substr(name.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    if (value.starts_with("unlimited")) return 18446744073709551615.0;
    const int64_t number = ParseNumber(value, -1);
    if (number >= 0) return static_cast<double>(number);
  }
  return std::nullopt;
}

void ReadStat(const std::string& folder, const std::string& root, ProcessFigures* figures) {
  const auto stat = ReadText(folder + "/stat");
  if (!stat) return;
  const size_t bracket = stat->rfind(')');  // the program's name may hold brackets and blanks
  if (bracket == std::string::npos || bracket + 2 > stat->size()) return;
  const auto fields = Split(std::string_view(*stat).substr(bracket + 2), ' ');
  // Numbered from 1 as in proc(5); the first after the name is number 3.
  const auto field = [&](size_t number) {
    return fields.size() > number - 3 ? ParseNumber(fields[number - 3], -1) : int64_t{-1};
  };
  static const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  figures->alive = true;
  if (field(14) >= 0 && field(15) >= 0) {
    figures->cpu_seconds = (static_cast<double>(field(14)) + static_cast<double>(field(15))) / ticks_per_second;
  }
  if (field(20) >= 0) figures->threads = field(20);
  if (field(23) >= 0) figures->virtual_bytes = field(23);
  if (field(24) >= 0 && field(24) <= INT64_MAX / page_bytes) figures->resident_bytes = field(24) * page_bytes;
  figures->start_ticks = field(22) > 0 ? field(22) : 0;
  const int64_t boot = FieldNumber(ReadText(root + "/proc/stat").value_or(""), "btime", -1);
  if (boot >= 0 && figures->start_ticks > 0) {
    figures->start_time_seconds =
        static_cast<double>(boot) + static_cast<double>(figures->start_ticks) / ticks_per_second;
  }
}

}  // namespace

ProcessFigures ReadProcessFigures(int32_t pid, const std::string& root) {
  ProcessFigures figures;
  const std::string folder = root + "/proc/" + std::to_string(pid);
  ReadStat(folder, root, &figures);
  if (!figures.alive) return figures;
  figures.open_fds = CountEntries(folder + "/fd");
  const std::string limits = ReadText(folder + "/limits").value_or("");
  if (const auto most = SoftLimit(limits, "Max open files"))
    figures.max_fds = static_cast<int64_t>(std::min(*most, 9e18));
  figures.virtual_max_bytes = SoftLimit(limits, "Max address space");
  return figures;
}

}  // namespace wf::probe
