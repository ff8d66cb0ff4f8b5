#include "probe/capabilities.h"

#include <utility>

#include "probe/capability_probes.h"

namespace wf::probe {

std::string_view Name(Availability availability) {
  switch (availability) {
    case Availability::kNo: return "no";
    case Availability::kPartly: return "partly";
    case Availability::kYes: return "yes";
  }
  return "no";
}

Capability Available(std::string id, std::string what, std::string evidence) {
  return {std::move(id), std::move(what), Availability::kYes, std::move(evidence), "", ""};
}

Capability Missing(Availability how_far, std::string id, std::string what, std::string evidence, std::string reason,
                   std::string remedy) {
  return {std::move(id), std::move(what), how_far, std::move(evidence), std::move(reason), std::move(remedy)};
}

std::vector<Capability> ProbeCapabilities(const std::string& root, const std::string& nvml_library) {
  std::vector<Capability> found;
  const Privileges privileges = ReadPrivileges(root);
  ProbeClocks(root, &found);
  ProbeCpus(root, &found);
  ProbeMemory(root, &found);
  ProbeIo(root, &found);
  ProbePerfEvents(root, privileges, &found);
  ProbeProcessAccess(root, privileges, &found);
  ProbeKernelExtras(root, &found);
  ProbeGpu(nvml_library, &found);
  return found;
}

}  // namespace wf::probe
