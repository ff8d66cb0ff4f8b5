#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <charconv>

#include "sampler/gate.h"

namespace wf::sampler {
namespace {

bool CanReadItself() {
  int from = 1;
  int to = 0;
  const iovec ours{&to, sizeof(to)};
  const iovec theirs{&from, sizeof(from)};
  return process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0) == sizeof(to);
}

uint64_t EffectiveCapabilities() {
  const std::string text = ReadProc(getpid(), "status").value_or("");
  uint64_t capabilities = 0;
  const size_t at = text.find("CapEff:\t");
  if (at != std::string::npos) std::from_chars(text.data() + at + 8, text.data() + text.size(), capabilities, 16);
  return capabilities;
}

}  // namespace

int YamaScope() {
  // Through our own root: the same file for every process.
  const std::string text = ReadProc(getpid(), "root/proc/sys/kernel/yama/ptrace_scope").value_or("");
  int scope = 0;
  std::from_chars(text.data(), text.data() + text.size(), scope);
  return scope;
}

GateFacts ReadGateFacts(int32_t pid, const ProcessStatus& target) {
  constexpr int kSysPtrace = 19;  // linux/capability.h
  GateFacts facts;
  facts.can_read_itself = CanReadItself();
  facts.our_uid = geteuid();
  facts.our_capabilities = EffectiveCapabilities();
  facts.has_ptrace_right = (facts.our_capabilities >> kSysPtrace & 1) != 0;
  facts.yama = YamaScope();
  facts.target = target;
  facts.container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
                    access("/var/run/secrets/kubernetes.io", F_OK) == 0;
  // The kernel gives the files of a non-dumpable process to root (proc(5)).
  struct stat info{};
  if (stat(("/proc/" + std::to_string(pid)).c_str(), &info) == 0) facts.dumpable = info.st_uid == target.uid;
  return facts;
}

}  // namespace wf::sampler
