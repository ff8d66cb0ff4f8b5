// Why a process cannot be read, in one sentence with what to do: which gate is closed, and the smallest thing that
// opens it.
#ifndef WF_SAMPLER_GATE_H_
#define WF_SAMPLER_GATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cpython/runtime.h"
#include "sampler/proc_files.h"
#include "wf/status.h"

namespace wf::sampler {

// What decides whether we may read a target; gathered by ReadGateFacts, by hand in tests.
struct GateFacts {
  bool can_read_itself = true;    // process_vm_readv on ourselves; false: a seccomp filter forbids it
  bool has_ptrace_right = false;  // CAP_SYS_PTRACE
  uint32_t our_uid = 0;
  uint64_t our_capabilities = 0;
  int yama = 0;            // kernel.yama.ptrace_scope; 0 without Yama
  bool dumpable = true;    // of the target
  bool container = false;  // we seem to be in one
  ProcessStatus target;
};

// OK, or why there is nothing to read: no such process, zombie, kernel thread.
Status CheckProcess(int32_t pid, const std::optional<ProcessStatus>& status);
// kernel.yama.ptrace_scope (Documentation/admin-guide/LSM/Yama.rst of the kernel); 0 without Yama.
int YamaScope();
GateFacts ReadGateFacts(int32_t pid, const ProcessStatus& target);
// The refusal of a read, explained.
Status Refusal(int32_t pid, const GateFacts& facts);
// Why one that was found cannot be read; `subject` as "process 7 (python3)". `found.outcome` is kTooOld,
// kUnknownVersion or kUnknownLayout.
Status NotSupported(const std::string& subject, const cpython::FoundRuntime& found);
// Why no interpreter was found; `found.outcome` is not kFound.
Status NotReadable(int32_t pid, const std::string& name, const cpython::FoundRuntime& found);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_GATE_H_
