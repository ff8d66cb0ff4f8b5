#include "analysis/finding.h"

#include <array>

namespace wf::analysis {

std::span<const std::string_view> AllRules() {
  static constexpr std::array kRules = {
      rule::kCpuOneCore,      rule::kCpuOneCoreShared,  rule::kCpuSomeCores,
      rule::kCpuAllCores,     rule::kCpuBusy,           rule::kGpuBusy,
      rule::kIoDisk,          rule::kIoNetwork,         rule::kWaitQuiet,
      rule::kWaitUnknown,     rule::kSchedulingGaps,    rule::kTinyTasks,
      rule::kMemoryNearLimit, rule::kUnknownNoCpu,      rule::kUnknownCpuLowerBound,
      rule::kUnknownTooShort, rule::kUnknownNothingRan,
  };
  return kRules;
}

}  // namespace wf::analysis
