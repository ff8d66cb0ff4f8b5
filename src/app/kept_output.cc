#include "app/kept_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace wf::app {
namespace {

// Appended to, so that streams that share it, and programs that open it again, do not write over each other.
base::Fd OpenNameless(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0) return base::Fd(fd);
  std::string name = folder + "/wf-top-XXXXXX";  // a file system without O_TMPFILE
  base::Fd named(::mkostemp(name.data(), O_APPEND | O_CLOEXEC));
  if (named.valid()) ::unlink(name.c_str());
  return named;
}

bool IsSameTerminal(int a, int b) {
  struct stat stat_a{};
  struct stat stat_b{};
  return ::isatty(a) == 1 && ::isatty(b) == 1 && ::fstat(a, &stat_a) == 0 && ::fstat(b, &stat_b) == 0 &&
         stat_a.st_rdev == stat_b.st_rdev;
}

bool WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd ready = {STDOUT_FILENO, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    }
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Result<KeptOutput> KeptOutput::Open() {
  KeptOutput kept;
  std::error_code no_folder;
  const std::string folder = std::filesystem::temp_directory_path(no_folder).string();
  kept.file_ = OpenNameless(no_folder ? "/tmp" : folder);
  if (!kept.file_.valid()) {
    return Status(Code::kIo, fmt::format("no place to keep the program's output while the screen is shown: {}: {}; "
                                         "TMPDIR names another folder",
                                         no_folder ? "/tmp" : folder, std::strerror(errno)));
  }
  if (::isatty(STDIN_FILENO) == 1) {
    kept.nothing_ = base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    kept.streams_.input = kept.nothing_.get();
  }
  if (::isatty(STDOUT_FILENO) == 1) kept.streams_.output = kept.file_.get();
  if (IsSameTerminal(STDOUT_FILENO, STDERR_FILENO)) kept.streams_.error = kept.file_.get();
  return kept;
}

bool KeptOutput::ShowNew() {
  std::array<char, 1 << 16> block;
  for (;;) {
    const ssize_t got = ::pread(file_.get(), block.data(), block.size(), shown_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    shown_ += got;
    if (!WriteAll({block.data(), static_cast<size_t>(got)})) return false;
  }
}

}  // namespace wf::app
