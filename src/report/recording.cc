#include "report/recording.h"

#include <fmt/format.h>

#include <string_view>

namespace wf::report {
namespace {

std::string Count(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string Rejected(const profile::StackMeta& meta) {
  std::string reasons;
  for (const auto& [reason, count] : meta.rejected) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", reason, count);
  }
  return Count(meta.rejected_total(), "reading") + " rejected" + (reasons.empty() ? "" : " (" + reasons + ")");
}

std::string_view WhatIsIn(const profile::StackMeta& meta) {
  if (meta.mode == profile::SampleMode::kGil) return "only time with the GIL";
  if (meta.mode == profile::SampleMode::kCpu) return "only CPU time";
  return meta.idle_included ? "idle time included" : "idle time left out (-i includes it)";
}

}  // namespace

std::string RecordingText(const profile::StackMeta& meta, const std::string& path) {
  return fmt::format("{}: {} in {:.4g} s, {:.4g} of {:g} Hz, {} missed, {}, {}", path, Count(meta.samples, "sample"),
                     static_cast<double>(meta.duration_ns) / 1e9, meta.achieved_rate_hz, meta.rate_hz,
                     Count(meta.missed, "round"), Rejected(meta), WhatIsIn(meta));
}

}  // namespace wf::report
