#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/process_id.h"

namespace wf::base {
namespace {

std::string ReadSmallFile(const char* path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), &std::fclose);
  if (file == nullptr) return {};
  std::array<char, 1024> buffer{};
  return {buffer.data(), std::fread(buffer.data(), 1, buffer.size(), file.get())};
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

std::string BootId() {
  std::string text = ReadSmallFile("/proc/sys/kernel/random/boot_id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

uint64_t PidNamespace() {
  struct stat info{};
  return stat("/proc/self/ns/pid", &info) == 0 ? static_cast<uint64_t>(info.st_ino) : 0;
}

}  // namespace

std::optional<int64_t> StartTicksOf(int32_t pid) {
  if (pid <= 0) return std::nullopt;
  const std::string text = ReadSmallFile(("/proc/" + std::to_string(pid) + "/stat").c_str());
  // The second field is the name in parentheses and may itself hold spaces and parentheses: count from the last one.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return std::nullopt;
  const char* at = text.c_str() + name_end + 2;
  const char state = *at;
  constexpr int kThreads = 20;
  constexpr int kStart = 22;
  int64_t threads = 0;
  for (int field = 3; field < kStart; ++field) {
    if (field == kThreads) threads = std::strtoll(at, nullptr, 10);
    at = std::strchr(at, ' ');
    if (at == nullptr) return std::nullopt;
    ++at;
  }
  // A process whose main thread alone has exited is shown as a zombie too, and lives on in its other threads.
  if (state == 'X' || (state == 'Z' && threads < 2)) return std::nullopt;
  char* end = nullptr;
  const int64_t ticks = std::strtoll(at, &end, 10);
  if (end == at) return std::nullopt;
  return ticks;
}

ProcessId ProcessId::Self() {
  ProcessId id;
  id.host = HostName();
  id.boot_id = BootId();
  id.pid_namespace = PidNamespace();
  id.pid = static_cast<int32_t>(getpid());
  id.start_ticks = StartTicksOf(id.pid).value_or(0);
  return id;
}

Liveness LivenessOf(const ProcessId& id) {
  const std::string boot_id = BootId();
  if (boot_id.empty() || id.boot_id.empty()) return Liveness::kUnknown;
  if (boot_id != id.boot_id) return id.host == HostName() ? Liveness::kRebooted : Liveness::kUnknown;
  if (id.pid_namespace != PidNamespace()) return Liveness::kUnknown;
  const std::optional<int64_t> ticks = StartTicksOf(id.pid);
  return ticks == id.start_ticks ? Liveness::kAlive : Liveness::kDead;
}

}  // namespace wf::base
