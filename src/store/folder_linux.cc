#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "store/folder.h"

namespace wf::store {
namespace {

constexpr uint64_t kFuseMagic = 0x65735546;

// linux/magic.h and statfs(2).
constexpr std::array<std::pair<uint64_t, std::string_view>, 13> kNetworkMagics = {{
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB 2"},
    {0x01021997, "9p"},
    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},
    {0x00C36400, "Ceph"},
    {0x47504653, "GPFS"},
    {0x0BD00BD0, "Lustre"},
    {0x73757245, "Coda"},
    {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"},
}};

// FUSE carries local file systems too: only those known to reach over a network.
constexpr std::array<std::string_view, 12> kNetworkFuse = {
    "sshfs", "s3fs",   "rclone",   "gcsfuse", "goofys",  "glusterfs",
    "ceph",  "cephfs", "mount-s3", "davfs",   "juicefs", "blobfuse2",
};

// The type of the mount with this device number, as /proc/self/mountinfo names it.
std::string MountType(dev_t device) {
  const std::string wanted = fmt::format(" {}:{} ", major(device), minor(device));
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.find(wanted) == std::string::npos) continue;
    // Optional fields end with " - "; the type follows.
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    return line.substr(dash + 3, line.find(' ', dash + 3) - dash - 3);
  }
  return {};
}

}  // namespace

std::optional<std::string> NetworkName(uint64_t magic, std::string_view mount_type) {
  for (const auto& [known, name] : kNetworkMagics) {
    if (known == magic) return std::string(name);
  }
  if (magic != kFuseMagic || !mount_type.starts_with("fuse.")) return std::nullopt;
  const std::string_view program = mount_type.substr(5);
  if (std::find(kNetworkFuse.begin(), kNetworkFuse.end(), program) == kNetworkFuse.end()) return std::nullopt;
  return std::string(program);
}

Status CheckFileSystem(const std::filesystem::path& folder) {
  std::filesystem::path existing = std::filesystem::absolute(folder);
  std::error_code error;
  while (!std::filesystem::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
  struct statfs info{};
  struct stat file{};
  if (statfs(existing.c_str(), &info) != 0 || stat(existing.c_str(), &file) != 0) return {};  // opening it will say why
  const auto magic = static_cast<uint64_t>(static_cast<uint32_t>(info.f_type));
  const std::optional<std::string> network = NetworkName(magic, magic == kFuseMagic ? MountType(file.st_dev) : "");
  if (!network) return {};
  return {
      Code::kFailedPrecondition,
      fmt::format(
          "{} lies on a network file system ({}), where a store would be damaged: use a folder on a local disk with "
          "--store or WF_STORE",
          folder.string(), *network)};
}

}  // namespace wf::store
