#include <unistd.h>

#include <optional>
#include <string_view>

#include "probe/pid_namespace.h"
#include "probe/proc_text.h"
#include "probe/text_file.h"

namespace wf::probe {

bool InInitialPidNamespace(const std::string& root) {
  // The kernel gives its first namespaces fixed inode numbers (PROC_PID_INIT_INO).
  constexpr std::string_view kInitial = "pid:[4026531836]";
  char target[64];
  const ssize_t size = readlink((root + "/proc/self/ns/pid").c_str(), target, sizeof target);
  return size > 0 && std::string_view(target, static_cast<size_t>(size)) == kInitial;
}

std::set<int32_t> WithOuterPids(const std::set<int32_t>& pids, const std::string& root) {
  std::set<int32_t> all = pids;
  for (const int32_t pid : pids) {
    const auto status = ReadText(root + "/proc/" + std::to_string(pid) + "/status");
    if (!status) continue;
    for (std::string_view line : Split(*status, '\n')) {
      if (!line.starts_with("NSpid:")) continue;
      line.remove_prefix(6);
      size_t used = 0;
      while (true) {
        const int64_t alias = ParseNumber(line, -1, &used);
        if (used == 0) break;
        if (alias > 0 && alias <= INT32_MAX) all.insert(static_cast<int32_t>(alias));
        line.remove_prefix(used);
      }
    }
  }
  return all;
}

}  // namespace wf::probe
