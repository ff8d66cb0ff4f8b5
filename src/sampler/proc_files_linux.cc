#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "sampler/proc_files.h"

namespace wf::sampler {
namespace {

constexpr size_t kMostBytes = 16 << 20;
constexpr size_t kMostProcesses = 4096;

template <typename T>
T Number(std::string_view text, int base = 10) {
  T value{};
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::vector<int32_t> NumberedEntries(const std::string& folder) {
  std::vector<int32_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), &closedir);
  if (dir == nullptr) return found;
  while (const dirent* entry = readdir(dir.get())) {
    const auto number = Number<int32_t>(entry->d_name);
    if (number > 0) found.push_back(number);
  }
  return found;
}

// The fields of a stat file behind the name, which may itself hold spaces and parentheses.
std::string_view BehindName(std::string_view stat) {
  const size_t end = stat.rfind(')');
  return end == std::string_view::npos || end + 2 > stat.size() ? std::string_view() : stat.substr(end + 2);
}

template <typename Visit>
void ForEachLine(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// 0: looks like an interpreter's library or program; 1: something else.
int Rank(const cpython::Module& module) {
  const size_t slash = module.path.rfind('/');
  return module.path.find("python", slash == std::string::npos ? 0 : slash) == std::string::npos ? 1 : 0;
}

}  // namespace

std::optional<std::string> ReadProc(int32_t pid, const std::string& name, int* error) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (error != nullptr) *error = file.valid() ? 0 : errno;
  if (!file.valid()) return std::nullopt;
  std::string text;
  char block[1 << 14];
  while (text.size() < kMostBytes) {
    const ssize_t got = read(file.get(), block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && error != nullptr) *error = errno;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(block, static_cast<size_t>(got));
  }
  return text;
}

std::vector<cpython::Module> ModulesIn(const std::string& maps) {
  // start-end perms offset device inode   path
  std::vector<cpython::Module> modules;
  ForEachLine(maps, [&](std::string_view line) {
    const size_t slash = line.find('/');
    const size_t dash = line.find('-');
    const size_t first = line.find(' ');
    if (slash == std::string_view::npos || dash > first || first + 6 >= line.size()) return;
    const std::string_view offset = line.substr(first + 6, line.find(' ', first + 6) - first - 6);
    if (offset.find_first_not_of('0') != std::string_view::npos) return;  // only where the file's beginning lies
    cpython::Module module;
    module.base = Number<uint64_t>(line.substr(0, dash), 16);
    module.path = line.substr(slash);
    modules.push_back(std::move(module));
  });
  std::stable_sort(modules.begin(), modules.end(), [](const auto& a, const auto& b) { return Rank(a) < Rank(b); });
  return modules;
}

ProcessStatus StatusIn(std::string_view text, std::string_view stat) {
  ProcessStatus status;
  ForEachLine(text, [&](std::string_view line) {
    const size_t colon = line.find(":\t");
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (key == "Name") status.name = value;
    if (key == "State" && !value.empty()) status.state = value[0];
    if (key == "Uid") status.uid = Number<uint32_t>(value.substr(std::min(value.find('\t'), value.size() - 1) + 1));
    if (key == "TracerPid") status.tracer = Number<int32_t>(value);
    if (key == "CapPrm") status.permitted = Number<uint64_t>(value, 16);
    if (key == "Kthread") status.kernel_thread = value == "1";
    if (key == "NSpid") {
      for (size_t at = 0; at < value.size(); at = std::min(value.find('\t', at), value.size() - 1) + 1) {
        status.ns_pids.push_back(Number<int32_t>(value.substr(at)));
      }
    }
  });
  // Before Linux 6.8 there is no "Kthread" line: flag PF_KTHREAD, the seventh field behind the name.
  constexpr uint32_t kKernelThreadFlag = 0x00200000;
  std::string_view fields = BehindName(stat);
  for (int i = 0; i < 6 && !fields.empty(); ++i)
    fields.remove_prefix(std::min(fields.find(' '), fields.size() - 1) + 1);
  if ((Number<uint32_t>(fields) & kKernelThreadFlag) != 0) status.kernel_thread = true;
  return status;
}

std::optional<ProcessStatus> ReadStatus(int32_t pid) {
  const auto text = ReadProc(pid, "status");
  if (!text) return std::nullopt;
  return StatusIn(*text, ReadProc(pid, "stat").value_or(""));
}

std::string CommandLine(int32_t pid) {
  std::string text = ReadProc(pid, "cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  if (!text.empty()) return text;
  const auto status = ReadStatus(pid);
  return status ? "[" + status->name + "]" : "";
}

std::vector<int32_t> ReadTids(int32_t pid) {
  std::vector<int32_t> tids = NumberedEntries("/proc/" + std::to_string(pid) + "/task");
  std::sort(tids.begin(), tids.end());
  return tids;
}

Task TaskIn(std::string_view stat) {
  Task task;
  const std::string_view rest = BehindName(stat);
  if (!rest.empty()) task.state = rest[0];
  const size_t open = stat.find('(');
  const size_t close = stat.rfind(')');
  if (open != std::string_view::npos && close != std::string_view::npos && close > open) {
    task.name = stat.substr(open + 1, close - open - 1);
  }
  return task;
}

std::map<int32_t, Task> ReadTasks(int32_t pid) {
  std::map<int32_t, Task> tasks;
  for (const int32_t tid : ReadTids(pid)) {
    const auto stat = ReadProc(pid, "task/" + std::to_string(tid) + "/stat");
    if (stat) tasks[tid] = TaskIn(*stat);  // else it ended meanwhile
  }
  return tasks;
}

std::map<int32_t, int32_t> OuterTids(int32_t pid, const std::map<int32_t, Task>& tasks) {
  std::map<int32_t, int32_t> outer;
  const auto process = ReadStatus(pid);
  if (!process || process->ns_pids.size() < 2) return outer;
  for (const auto& [tid, task] : tasks) {
    const auto text = ReadProc(pid, "task/" + std::to_string(tid) + "/status").value_or("");
    const size_t at = text.find("NSpid:");
    if (at == std::string::npos) continue;
    const std::string_view line = std::string_view(text).substr(at, text.find('\n', at) - at);
    outer[Number<int32_t>(line.substr(line.rfind('\t') + 1))] = tid;
  }
  return outer;
}

std::vector<int32_t> Descendants(int32_t pid) {
  std::map<int32_t, std::vector<int32_t>> children;
  for (const int32_t each : NumberedEntries("/proc")) {
    const std::string stat = ReadProc(each, "stat").value_or("");
    const std::string_view rest = BehindName(stat);
    if (rest.size() > 2) children[Number<int32_t>(rest.substr(2))].push_back(each);
  }
  std::vector<int32_t> found;
  std::vector<int32_t> parents = {pid};
  while (!parents.empty() && found.size() < kMostProcesses) {
    std::vector<int32_t> next;
    for (const int32_t parent : parents) {
      std::sort(children[parent].begin(), children[parent].end());
      for (const int32_t child : children[parent]) next.push_back(child);
    }
    found.insert(found.end(), next.begin(), next.end());
    parents = std::move(next);
  }
  return found;
}

}  // namespace wf::sampler
