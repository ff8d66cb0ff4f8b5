#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "sampler/mapped_files.h"

namespace wf::sampler {
namespace {

// Opening a device may do something.
base::Fd OpenRegular(const std::string& path, uint64_t inode) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_ino != inode) return {};
  return base::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

}  // namespace

base::Fd CopyOf(const native::Mapping& mapping, cpython::MemoryReader& memory) {
  constexpr uint64_t kMostBytes = 1 << 20;
  if (mapping.end - mapping.begin > kMostBytes) return {};
  std::vector<char> bytes(mapping.end - mapping.begin);
  if (!memory.ReadOne(mapping.begin, bytes.data(), bytes.size())) return {};
  base::Fd file(memfd_create("wf-image", MFD_CLOEXEC));
  if (!file.valid() || pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return {};
  return file;
}

base::Fd OpenMapped(int32_t pid, const native::Mapping& mapping, cpython::MemoryReader& memory) {
  if (mapping.path == "[vdso]") return CopyOf(mapping, memory);
  if (mapping.inode == 0) return {};
  // The file itself, whatever became of its name; needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
  base::Fd file =
      OpenRegular(fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.begin, mapping.end), mapping.inode);
  if (file.valid()) return file;
  return OpenRegular(fmt::format("/proc/{}/root{}", pid, mapping.path), mapping.inode);
}

}  // namespace wf::sampler
