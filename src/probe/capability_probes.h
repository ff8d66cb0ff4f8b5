// The single probes behind ProbeCapabilities, by theme; internal to the room. Each appends its entries to `found`.
#ifndef WF_PROBE_CAPABILITY_PROBES_H_
#define WF_PROBE_CAPABILITY_PROBES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "probe/capabilities.h"

namespace wf::probe {

// Numbers of <linux/capability.h>, which older headers lack in part.
inline constexpr int kCapSysPtrace = 19;
inline constexpr int kCapSysAdmin = 21;
inline constexpr int kCapPerfmon = 38;

// What the process is allowed, from /proc/self/status.
struct Privileges {
  uint64_t effective = 0;       // CapEff
  bool seccomp_filter = false;  // system calls are filtered, as in most containers
  bool Has(int capability) const { return (effective >> capability & 1) != 0; }
};
Privileges ReadPrivileges(const std::string& root);

// Builders that keep the rule "reason and remedy only when something is missing".
Capability Available(std::string id, std::string what, std::string evidence);
Capability Missing(Availability how_far, std::string id, std::string what, std::string evidence, std::string reason,
                   std::string remedy);

void ProbeClocks(const std::string& root, std::vector<Capability>* found);
void ProbeCpus(const std::string& root, std::vector<Capability>* found);
void ProbeMemory(const std::string& root, std::vector<Capability>* found);
void ProbeIo(const std::string& root, std::vector<Capability>* found);
void ProbePerfEvents(const std::string& root, const Privileges& privileges, std::vector<Capability>* found);
void ProbeProcessAccess(const std::string& root, const Privileges& privileges, std::vector<Capability>* found);
void ProbeKernelExtras(const std::string& root, std::vector<Capability>* found);
void ProbeGpu(const std::string& nvml_library, std::vector<Capability>* found);

}  // namespace wf::probe

#endif  // WF_PROBE_CAPABILITY_PROBES_H_
