#include <algorithm>
#include <string_view>
#include <vector>

#include "probe/cgroup.h"
#include "probe/proc_text.h"
#include "probe/text_file.h"

namespace wf::probe {
namespace {

// v1 writes "no limit" as the highest number of pages that fits; nothing has an exbibyte.
constexpr int64_t kNoLimitFrom = int64_t{1} << 60;

bool HasItem(std::string_view list, std::string_view item) {
  const auto items = Split(list, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

struct Mount {
  std::string root;   // the group that is mounted
  std::string point;  // where
};

// A line of /proc/self/mountinfo: "31 23 0:28 /group /sys/fs/cgroup/cpu rw,relatime … - cgroup cgroup rw,cpu".
// `controller` empty: the unified hierarchy.
std::optional<Mount> FindMount(std::string_view mountinfo, std::string_view controller) {
  for (std::string_view line : Split(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto head = Split(line.substr(0, dash), ' ');
    const auto tail = Split(line.substr(dash + 3), ' ');
    if (head.size() < 5 || tail.size() < 3) continue;
    const bool wanted = controller.empty() ? tail[0] == "cgroup2" : tail[0] == "cgroup" && HasItem(tail[2], controller);
    if (wanted) return Mount{std::string(head[3]), std::string(head[4])};
  }
  return std::nullopt;
}

// The path in /proc/self/cgroup's line "4:memory:/path" for `controller`, or "0::/path" when that is empty.
std::optional<std::string> FindGroup(std::string_view cgroup, std::string_view controller) {
  for (std::string_view line : Split(cgroup, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : HasItem(names, controller)) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// Our group's folder and those above it, up to the mount point. A container may see only part of the path: what is
// above the mounted group is then out of sight, and a path that is not below it stands for the mount point itself.
std::vector<std::string> FoldersUpwards(const std::string& root, const Mount& mount, std::string group) {
  if (mount.root != "/") group = group.starts_with(mount.root) ? group.substr(mount.root.size()) : "";
  while (group.ends_with('/')) group.pop_back();
  if (group.find("/..") != std::string::npos) group.clear();
  const std::string top = root + mount.point;
  std::vector<std::string> folders;
  while (!group.empty()) {
    folders.push_back(std::string(top).append(group));
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  folders.push_back(top);
  return folders;
}

std::optional<int32_t> QuotaMilli(int64_t quota_us, int64_t period_us) {
  if (quota_us <= 0 || period_us <= 0 || quota_us > INT64_MAX / 1000) return std::nullopt;
  return static_cast<int32_t>(std::clamp<int64_t>(quota_us * 1000 / period_us, 1, INT32_MAX));
}

std::optional<int32_t> QuotaOf(const std::string& folder, int version) {
  if (version == 1) {
    const auto quota = ReadNumber(folder + "/cpu.cfs_quota_us");
    const auto period = ReadNumber(folder + "/cpu.cfs_period_us");
    return quota && period ? QuotaMilli(*quota, *period) : std::nullopt;
  }
  const auto text = ReadText(folder + "/cpu.max");  // "max 100000" or "150000 100000"
  if (!text) return std::nullopt;
  size_t used = 0;
  const int64_t quota = ParseNumber(*text, -1, &used);
  if (used == 0) return std::nullopt;
  return QuotaMilli(quota, ParseNumber(std::string_view(*text).substr(used), 100'000));
}

std::optional<int64_t> MemoryLimitOf(const std::string& folder, int version) {
  const auto limit = ReadNumber(folder + (version == 1 ? "/memory.limit_in_bytes" : "/memory.max"));
  return limit && *limit >= 0 && *limit < kNoLimitFrom ? limit : std::nullopt;
}

template <typename T>
void KeepLower(std::optional<T> found, std::optional<T>* lowest) {
  if (found && (!*lowest || *found < **lowest)) *lowest = found;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const std::string mountinfo = ReadText(root + "/proc/self/mountinfo").value_or("");
  const std::string cgroup = ReadText(root + "/proc/self/cgroup").value_or("");
  const auto folders_of = [&](std::string_view controller) -> std::vector<std::string> {
    const auto mount = FindMount(mountinfo, controller);
    const auto group = FindGroup(cgroup, controller);
    return mount && group ? FoldersUpwards(root, *mount, *group) : std::vector<std::string>();
  };
  std::vector<std::string> cpu = folders_of("cpu");
  std::vector<std::string> memory = folders_of("memory");
  const std::vector<std::string> unified = folders_of("");
  const int cpu_version = cpu.empty() ? 2 : 1;
  const int memory_version = memory.empty() ? 2 : 1;
  if (cpu.empty()) cpu = unified;
  if (memory.empty()) memory = unified;
  if (cpu.empty() && memory.empty()) return limits;
  limits.version = std::min(cpu_version, memory_version);
  for (const std::string& folder : cpu) KeepLower(QuotaOf(folder, cpu_version), &limits.quota_milli);
  for (const std::string& folder : memory) KeepLower(MemoryLimitOf(folder, memory_version), &limits.memory_limit_bytes);
  if (!cpu.empty()) limits.cpu_folder = cpu.front();
  if (!memory.empty()) limits.memory_folder = memory.front();
  return limits;
}

}  // namespace wf::probe
