// From /proc/net/tcp (inode of the listening socket) and /proc/<pid>/fd (whose descriptor it is).
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "net/port_owner.h"

namespace wf::net {
namespace {

using Dir = std::unique_ptr<DIR, int (*)(DIR*)>;

// Link texts ("socket:[123]") of the sockets that listen on `port`.
std::set<std::string> ListeningSockets(int port) {
  std::set<std::string> sockets;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // headings
    while (std::getline(file, line)) {
      // "0: 0100007F:1F90 00000000:0000 0A tx:rx tr:when retrnsmt uid timeout inode ..."
      std::istringstream fields(line);
      std::string number, local, remote, state, skip, inode;
      fields >> number >> local >> remote >> state >> skip >> skip >> skip >> skip >> skip >> inode;
      const size_t colon = local.rfind(':');
      if (!fields || state != "0A" || colon == std::string::npos) continue;
      if (std::strtol(local.c_str() + colon + 1, nullptr, 16) != port) continue;
      sockets.insert(fmt::format("socket:[{}]", inode));
    }
  }
  return sockets;
}

bool HoldsOneOf(const std::string& pid, const std::set<std::string>& sockets) {
  const std::string folder = "/proc/" + pid + "/fd";
  const Dir dir(opendir(folder.c_str()), closedir);
  if (dir == nullptr) return false;
  while (const dirent* entry = readdir(dir.get())) {
    std::array<char, 64> link{};
    const ssize_t size = readlink((folder + "/" + entry->d_name).c_str(), link.data(), link.size());
    if (size > 0 && sockets.contains(std::string(link.data(), static_cast<size_t>(size)))) return true;
  }
  return false;
}

}  // namespace

std::string PortOwner(int port) {
  const std::set<std::string> sockets = ListeningSockets(port);
  if (sockets.empty()) return "";
  const Dir dir(opendir("/proc"), closedir);
  if (dir == nullptr) return "";
  while (const dirent* entry = readdir(dir.get())) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos || !HoldsOneOf(pid, sockets)) continue;
    std::ifstream file("/proc/" + pid + "/comm");
    std::string name;
    std::getline(file, name);
    return name.empty() ? "pid " + pid : fmt::format("pid {} ({})", pid, name);
  }
  return "";
}

}  // namespace wf::net
