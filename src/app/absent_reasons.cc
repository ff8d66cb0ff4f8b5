#include "app/absent_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "probe/capabilities.h"
#include "probe/machine.h"

namespace wf::app {
namespace {

// Below this an attempt that shares its process with others is measured by wall time and CPU only.
constexpr int64_t kFullReadingNs = 1'000'000;

struct Source {
  std::string_view figure;
  std::string_view capability;  // of probe::ProbeCapabilities; empty: no probe of ours has it
  std::string_view otherwise;   // the reason when the capability is there, or there is none
};

constexpr std::array kSources = {
    Source{"cpu", "cpu.thread_clock", ""},
    Source{"memory", "memory.peak_reset", ""},
    Source{"io_bytes", "io.process", ""},
    Source{"device_bytes", "io.process", ""},
    Source{"network_bytes", "",
           "the kernel counts traffic per network, not per process; no task can be given its part"},
    Source{"gpu_memory", "gpu.nvml", "no task held memory of a GPU"},
    Source{"gpu_busy", "gpu.nvml", "the time is not attributed to tasks"},
    Source{"energy", "energy.powercap", "the counters are of the whole machine; they are not attributed to tasks"},
};

const probe::Capability* Find(const std::vector<probe::Capability>& capabilities, std::string_view id) {
  const auto found = std::find_if(capabilities.begin(), capabilities.end(), [id](const auto& c) { return c.id == id; });
  return found == capabilities.end() ? nullptr : &*found;
}

bool AllAttemptsShort(const analysis::RunSummary& summary) {
  return std::all_of(summary.tasks.begin(), summary.tasks.end(),
                     [](const analysis::TaskSummary& task) { return task.attempt_walls.max_ns < kFullReadingNs; });
}

std::string ReasonHere(const Source& source, const analysis::RunSummary& summary,
                       const std::vector<probe::Capability>& capabilities) {
  const probe::Capability* capability = Find(capabilities, source.capability);
  if (capability != nullptr && capability->available == probe::Availability::kNo) return capability->reason;
  if (!source.otherwise.empty()) return std::string(source.otherwise);
  if (AllAttemptsShort(summary)) return "every attempt was shorter than a millisecond";
  return capability != nullptr ? capability->reason : "";
}

}  // namespace

MachineOfRun FindMachineOfRun(const profile::RunRecord& record) {
  MachineOfRun result;
  if (record.processes.empty()) return result;
  const profile::Process& owner = record.processes.front();
  result.host = owner.host;
  const probe::Machine machine = probe::ReadMachine();
  result.is_this_one = !owner.boot_id.empty() && owner.boot_id == machine.boot_id && owner.host == machine.host;
  if (!result.is_this_one) return result;
  int64_t limit = machine.total_memory_bytes;
  if (machine.memory_limit_bytes) limit = std::min(limit, *machine.memory_limit_bytes);
  if (limit > 0) result.memory_limit_bytes = limit;
  return result;
}

std::vector<report::AbsentFigure> ReasonsFor(const std::vector<std::string>& absent,
                                             const analysis::RunSummary& summary, const profile::Run& run,
                                             const MachineOfRun& machine) {
  std::vector<report::AbsentFigure> figures;
  if (absent.empty()) return figures;
  std::vector<probe::Capability> capabilities;
  if (machine.is_this_one) capabilities = probe::ProbeCapabilities();
  for (const std::string& id : absent) {
    const auto source = std::find_if(kSources.begin(), kSources.end(), [&](const Source& s) { return s.figure == id; });
    std::string reason;
    if (run.mode == "off") {
      reason = "the run was made with mode off";
    } else if (source != kSources.end() && (machine.is_this_one || source->capability.empty())) {
      reason = ReasonHere(*source, summary, capabilities);
    } else if (!machine.host.empty()) {
      reason = fmt::format("ask wf doctor on {}, where the run was made", machine.host);
    }
    figures.push_back({id, std::move(reason)});
  }
  return figures;
}

}  // namespace wf::app
