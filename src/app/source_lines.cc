#include "app/source_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process_id.h"

namespace wf::app {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr off_t kMostBytes = 16 << 20;
constexpr size_t kLongestLine = 200;

// 0 when it is not known: then no file is old enough.
int64_t StartWallNs(int32_t pid) {
  const auto ticks = base::StartTicksOf(pid);
  timespec boot{};
  if (!ticks || clock_gettime(CLOCK_BOOTTIME, &boot) != 0) return 0;
  const int64_t since_boot_ns = boot.tv_sec * kSecond + boot.tv_nsec;
  // Ticks are rounded down: up to one of them later it still has not begun.
  return base::WallNs() - since_boot_ns + (*ticks + 1) * (kSecond / sysconf(_SC_CLK_TCK));
}

std::string Trimmed(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\f\v";
  const size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  line = line.substr(begin, line.find_last_not_of(kSpace) - begin + 1);
  if (line.size() <= kLongestLine) return std::string(line);
  size_t end = kLongestLine;
  while (end > 0 && (static_cast<uint8_t>(line[end]) & 0xC0) == 0x80) --end;  // whole characters
  return std::string(line.substr(0, end)) + "…";
}

}  // namespace

SourceLines::SourceLines(int32_t pid)
    : SourceLines("/proc/" + std::to_string(pid) + "/root", "/proc/" + std::to_string(pid) + "/cwd", StartWallNs(pid)) {
}

std::string SourceLines::Of(const std::string& filename, int32_t line) {
  if (line <= 0 || filename.empty() || filename[0] == '<') return "";
  const auto [file, added] = files_.try_emplace(filename);
  if (added) file->second = Load(filename);
  const auto index = static_cast<size_t>(line) - 1;
  return index < file->second.size() ? file->second[index] : "";
}

std::vector<std::string> SourceLines::Load(const std::string& filename) const {
  const bool is_absolute = filename[0] == '/';
  if (!is_absolute && folder_.empty()) return {};
  const std::string path = is_absolute ? root_ + filename : folder_ + "/" + filename;
  // The name comes from the target: it may be a pipe that would block us.
  const base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat about{};
  if (!file.valid() || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > kMostBytes) {
    return {};
  }
  if (about.st_mtim.tv_sec * kSecond + about.st_mtim.tv_nsec > newest_ns_) return {};
  std::string text(static_cast<size_t>(about.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = read(file.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    done += static_cast<size_t>(got);
  }
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(Trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

}  // namespace wf::app
