#include "profile/export_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profile/escape.h"

namespace wf::profile {
namespace {

std::string ModeText(const StackMeta& meta, const ExportOptions& options) {
  std::string text = meta.mode == SampleMode::kCpu   ? "CPU time"
                     : meta.mode == SampleMode::kGil ? "time with the GIL"
                                                     : "wall time";
  if (meta.mode == SampleMode::kGil) return text;
  if (options.selection == StackSelection::kGil) return text + ", only with the GIL";
  const bool is_idle_in = meta.idle_included && options.selection == StackSelection::kAll;
  if (meta.mode == SampleMode::kWall) text += is_idle_in ? ", idle included" : ", idle left out";
  return text;
}

std::string RejectedText(const StackMeta& meta) {
  std::string reasons;
  for (const auto& [reason, count] : meta.rejected) {
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", Visible(reason), count);
  }
  return fmt::format("{} rejected{}", meta.rejected_total(), reasons.empty() ? "" : " (" + reasons + ")");
}

// A number with a point and no more digits than it has.
std::string Short(double value) { return fmt::format("{:g}", std::round(value * 100) / 100); }

}  // namespace

std::string TitleOf(const StackMeta& meta, const ExportOptions& options) {
  const std::string& title = options.title.empty() ? meta.command : options.title;
  return title.empty() ? "recorded stacks" : title;
}

std::string SubtitleOf(const StackProfile& profile, const ExportOptions& options) {
  const StackMeta& meta = profile.meta;
  std::string text = ModeText(meta, options);
  if (meta.rate_hz > 0)
    text += fmt::format(" · {} Hz asked, {} achieved", Short(meta.rate_hz), Short(meta.achieved_rate_hz));
  text += fmt::format(" · {} readings, {} missed, {}", meta.samples, meta.missed, RejectedText(meta));
  text += fmt::format(" · {} · {} thread{}", DurationText(meta.duration_ns), profile.threads.size(),
                      profile.threads.size() == 1 ? "" : "s");
  if (meta.not_kept > 0) text += " · more different stacks than are kept";
  return text;
}

std::string DurationText(int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns >= 60'000'000'000) return fmt::format("{} min {:02} s", ns / 60'000'000'000, ns / 1'000'000'000 % 60);
  if (value >= 0.9995e9) return fmt::format("{:.3g} s", value / 1e9);
  if (value >= 0.9995e6) return fmt::format("{:.3g} ms", value / 1e6);
  if (value >= 999.5) return fmt::format("{:.3g} µs", value / 1e3);
  return fmt::format("{} ns", ns);
}

std::string PercentText(int64_t part, int64_t whole) {
  if (whole == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percent >= 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.2f} %", percent);
}

std::string MetaJson(const StackMeta& meta) {
  std::string rejected;
  for (const auto& [reason, count] : meta.rejected) {
    rejected += fmt::format("{}{}:{}", rejected.empty() ? "" : ",", JsonQuoted(reason), count);
  }
  return fmt::format(
      "{{\"mode\":\"{}\",\"rate_hz\":{},\"achieved_rate_hz\":{},\"samples\":{},\"missed\":{},\"rejected\":{{{}}},"
      "\"not_kept\":{},\"idle_included\":{},\"start_wall_ns\":{},\"start_ns\":{},\"duration_ns\":{},"
      "\"cost_cpu_ns\":{},\"command\":{}}}",
      Name(meta.mode), meta.rate_hz, meta.achieved_rate_hz, meta.samples, meta.missed, rejected, meta.not_kept,
      meta.idle_included, meta.start_wall_ns, meta.start_ns, meta.duration_ns, meta.cost_cpu_ns,
      JsonQuoted(meta.command));
}

std::vector<ThreadSamples> SamplesByThread(const StackView& view) {
  const std::span<const StackSample> samples = view.profile().samples;
  std::vector<ThreadSamples> threads;
  for (size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    bool is_seen = false;
    for (; end < samples.size() && samples[end].thread == samples[begin].thread; ++end) {
      is_seen = is_seen || view.Includes(samples[end]);
    }
    if (is_seen) threads.push_back({samples[begin].thread, samples.subspan(begin, end - begin)});
  }
  return threads;
}

}  // namespace wf::profile
