// Probes of what some machines have beyond the ordinary: delays, pressure, bandwidth, energy, GPUs.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "probe/capability_probes.h"
#include "probe/gpu.h"
#include "probe/text_file.h"

namespace wf::probe {
namespace {

void ProbeDelays(const std::string& root, std::vector<Capability>* found) {
  const char* id = "delay.accounting";
  const char* what = "time that threads waited for disk, swap and CPU";
  const auto on = ReadNumber(root + "/proc/sys/kernel/task_delayacct");
  if (on && *on != 0) {
    found->push_back(Available(id, what, "kernel.task_delayacct 1"));
    return;
  }
  found->push_back(
      Missing(Availability::kNo, id, what, on ? "kernel.task_delayacct 0" : "",
              on ? "kernel.task_delayacct is 0" : "this kernel has no switch kernel.task_delayacct",
              on ? "sysctl kernel.task_delayacct=1" : "boot with delayacct, on a kernel with CONFIG_TASK_DELAY_ACCT"));
}

void ProbePressure(const std::string& root, std::vector<Capability>* found) {
  const char* id = "pressure.psi";
  const char* what = "pressure on CPU, memory and I/O of the whole machine";
  int error = 0;
  const auto text = ReadText(root + "/proc/pressure/cpu", &error);
  if (text && !text->empty()) {
    found->push_back(Available(id, what, text->substr(0, text->find('\n'))));
    return;
  }
  found->push_back(Missing(Availability::kNo, id, what, "",
                           error == EOPNOTSUPP ? "this kernel has pressure stall information switched off"
                                               : fmt::format("/proc/pressure/cpu: {}", std::strerror(error)),
                           error == EOPNOTSUPP ? "boot with psi=1" : "use a kernel with CONFIG_PSI"));
}

void ProbeResctrl(const std::string& root, std::vector<Capability>* found) {
  const char* id = "bandwidth.resctrl";
  const char* what = "memory bandwidth per task";
  if (const auto features = ReadText(root + "/sys/fs/resctrl/info/L3_MON/mon_features")) {
    const bool bandwidth = features->find("mbm_total_bytes") != std::string::npos;
    found->push_back(bandwidth ? Available(id, what, "mbm_total_bytes")
                               : Missing(Availability::kNo, id, what, "",
                                         "resctrl is mounted, but this CPU does not count memory traffic", ""));
    return;
  }
  const std::string filesystems = ReadText(root + "/proc/filesystems").value_or("");
  const bool known = filesystems.find("resctrl") != std::string::npos;
  found->push_back(Missing(Availability::kNo, id, what, "",
                           known ? "resctrl is not mounted" : "neither the kernel nor the CPU offers resctrl here",
                           known ? "as root: mount -t resctrl resctrl /sys/fs/resctrl"
                                 : "use a CPU with Intel RDT or AMD QoS, on bare metal, with CONFIG_X86_CPU_RESCTRL"));
}

void ProbeEnergy(const std::string& root, std::vector<Capability>* found) {
  const char* id = "energy.powercap";
  const char* what = "energy of the CPU package";
  const std::string path = root + "/sys/class/powercap/intel-rapl:0/energy_uj";
  int error = 0;
  if (ReadText(path, &error)) {
    found->push_back(Available(id, what, path));
    return;
  }
  const bool denied = error == EACCES || error == EPERM;
  found->push_back(Missing(
      Availability::kNo, id, what, "",
      denied ? path + " may be read by root only" : "the machine shows no energy counter, as virtual machines do not",
      denied ? "run as root, or let root give read permission on that file" : ""));
}

}  // namespace

void ProbeKernelExtras(const std::string& root, std::vector<Capability>* found) {
  ProbeDelays(root, found);
  ProbePressure(root, found);
  ProbeResctrl(root, found);
  ProbeEnergy(root, found);
}

void ProbeGpu(const std::string& nvml_library, std::vector<Capability>* found) {
  const char* id = "gpu.nvml";
  const char* what = "GPU memory per process";
  auto nvml = Nvml::Open(nvml_library);
  if (!nvml.ok()) {
    found->push_back(Missing(Availability::kNo, id, what, "", nvml.status().message(),
                             "install NVIDIA's driver, or start the container with --gpus all"));
    return;
  }
  std::string evidence = "driver " + (*nvml)->DriverVersion();
  const std::vector<GpuDevice> devices = (*nvml)->Devices();
  for (const GpuDevice& device : devices) evidence += fmt::format(", {}: {}", device.index, device.name);
  found->push_back(devices.empty()
                       ? Missing(Availability::kNo, id, what, evidence, "the driver shows no device to this process",
                                 "start the container with --gpus all, or check CUDA's device nodes")
                       : Available(id, what, evidence));
}

}  // namespace wf::probe
