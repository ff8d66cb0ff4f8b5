// Finding: a statement about a run, as a rule's id and the figures that made it fire; never as prose. `report` has the
// texts, in two languages.
#ifndef WF_ANALYSIS_FINDING_H_
#define WF_ANALYSIS_FINDING_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wf::analysis {

// Why a task takes its time.
namespace rule {
inline constexpr std::string_view kCpuOneCore = "cpu.one-core";               // one busy core, others idle
inline constexpr std::string_view kCpuOneCoreShared = "cpu.one-core-shared";  // attempts that overlap share one core
inline constexpr std::string_view kCpuSomeCores = "cpu.some-cores";           // several busy, others idle
inline constexpr std::string_view kCpuAllCores = "cpu.all-cores";             // no core is left
inline constexpr std::string_view kCpuBusy = "cpu.busy";  // busy; how many cores there are is unknown
inline constexpr std::string_view kGpuBusy = "gpu.busy";
inline constexpr std::string_view kIoDisk = "io.disk";
inline constexpr std::string_view kIoNetwork = "io.network";
inline constexpr std::string_view kWaitQuiet = "wait.quiet";      // waits, and little is moved meanwhile
inline constexpr std::string_view kWaitUnknown = "wait.unknown";  // waits; for what cannot be told
// Why the run as a whole, or a task beside its bottleneck, takes its time or is in danger.
inline constexpr std::string_view kSchedulingGaps = "run.gaps";
inline constexpr std::string_view kTinyTasks = "run.tiny-tasks";
inline constexpr std::string_view kMemoryNearLimit = "memory.near-limit";
// Cannot tell, because…
inline constexpr std::string_view kUnknownNoCpu = "unknown.no-cpu";
inline constexpr std::string_view kUnknownCpuLowerBound = "unknown.cpu-lower-bound";
inline constexpr std::string_view kUnknownTooShort = "unknown.too-short";
inline constexpr std::string_view kUnknownNothingRan = "unknown.nothing-ran";
}  // namespace rule

// All of the above, so that a test can ask for a text for each.
std::span<const std::string_view> AllRules();

struct Finding {
  std::string rule;
  std::string task;                       // empty: the run
  std::map<std::string, double> figures;  // SI units, named: "wall_ns", "cores_used", "memory_peak_bytes"
  std::vector<std::string> absent;  // figures that were missing for a better answer: "device_bytes", "network_bytes"

  bool operator==(const Finding&) const = default;
};

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_FINDING_H_
