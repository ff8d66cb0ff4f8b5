// What this machine lets us measure, for `wf doctor`. Pure probing: each entry says what is available, on what
// evidence, and else why not and what to change; printing is the caller's. Nothing is changed on the machine.
#ifndef WF_PROBE_CAPABILITIES_H_
#define WF_PROBE_CAPABILITIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wf::probe {

enum class Availability : uint8_t { kNo = 0, kPartly = 1, kYes = 2 };
std::string_view Name(Availability availability);  // "no", "partly", "yes"

struct Capability {
  std::string id;    // stable, for JSON: "cpu.quota", "memory.peak_reset", ...
  std::string what;  // a short noun phrase: "CPU quota of the cgroup"
  Availability available = Availability::kNo;
  std::string evidence;  // the value read, or the answer of the kernel
  std::string reason;    // why it is not (fully) available: names the gate; empty when it is
  std::string remedy;    // what to change; empty when there is nothing to do
};

// `root` is prepended to paths below /proc and /sys, for tests; system calls always go to the live kernel.
// `nvml_library` as in gpu.h. Takes some milliseconds.
std::vector<Capability> ProbeCapabilities(const std::string& root = "", const std::string& nvml_library = "");

}  // namespace wf::probe

#endif  // WF_PROBE_CAPABILITIES_H_
