#include "report/hot_spots.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/phrases.h"
#include "report/table.h"

namespace wf::report {
namespace {

using analysis::HotSpot;
using analysis::TaskHotSpots;
using nlohmann::json;

constexpr size_t kMaxTasks = 5;
constexpr size_t kMaxSpots = 3;
constexpr double kLeastShare = 0.02;  // of a task; the first line is always shown
constexpr double kSecond = 1e-9;

std::string PlaceOf(const HotSpot& spot) {
  const std::string file = spot.file.empty() ? "<no filename>" : OneLine(spot.file);
  return spot.line > 0 ? fmt::format("{}:{}", file, spot.line) : file;
}

std::string FunctionOf(const HotSpot& spot) {
  const std::string name = spot.function.empty() ? "<unnamed>" : OneLine(spot.function);
  return spot.calls.empty() ? name : fmt::format("{} → {}", name, OneLine(spot.calls));
}

// A recording that met no task is all outside, which needs no saying.
std::string NameOf(const TaskHotSpots& task, bool is_alone, Language language) {
  if (!task.task.empty() || is_alone) return OneLine(task.task);
  return std::string(Say(Phrase::kOutsideOfTasks, language));
}

void AddTask(const TaskHotSpots& task, const std::string& name, bool all, Language language, Table& table) {
  const size_t most = all ? task.spots.size() : std::min(task.spots.size(), kMaxSpots);
  for (size_t i = 0; i < most; ++i) {
    const HotSpot& spot = task.spots[i];
    if (i > 0 && !all && spot.share < kLeastShare) return;
    const double waiting = static_cast<double>(spot.waiting_ns) / static_cast<double>(spot.weight_ns);
    table.AddRow({Cell(i == 0 ? name : std::string()), Percent(spot.share, language), Cell(FunctionOf(spot)),
                  Cell(PlaceOf(spot)), waiting > 0 ? Percent(waiting, language) : std::string(),
                  fmt::format("{}", spot.samples)});
  }
}

std::string Title(const analysis::HotSpots& hot, const Style& style) {
  const profile::StackMeta& meta = hot.meta;
  std::string title = Paint(style, Tone::kStrong, Say(Phrase::kHottestLines, style.language));
  title += fmt::format(" ({:.4g} / {:g} Hz", meta.achieved_rate_hz, meta.rate_hz);
  if (meta.missed > 0) title += fmt::format("; {} {}", meta.missed, Say(Phrase::kMissed, style.language));
  if (meta.rejected_total() > 0) {
    title += fmt::format("; {} {}", meta.rejected_total(), Say(Phrase::kRejected, style.language));
  }
  if (meta.cost_cpu_ns > 0) {
    title += fmt::format("; {} {} CPU", Say(Phrase::kSamplerTook, style.language),
                         Duration(static_cast<double>(meta.cost_cpu_ns), style.language));
  }
  return title + ")\n";
}

json SpotJson(const HotSpot& spot) {
  return {{"function", spot.function},
          {"file", spot.file},
          {"line", spot.line},
          {"calls", spot.calls.empty() ? json() : json(spot.calls)},
          {"share", spot.share},
          {"seconds", static_cast<double>(spot.weight_ns) * kSecond},
          {"waiting_seconds", static_cast<double>(spot.waiting_ns) * kSecond},
          {"samples", spot.samples}};
}

}  // namespace

std::string HotSpotsText(const analysis::HotSpots& hot, bool all, const Style& style) {
  if (hot.tasks.empty()) return "";
  const auto title = [&](Phrase phrase) { return std::string(Say(phrase, style.language)); };
  Table table({{title(Phrase::kTask), Align::kLeft, true},
               {title(Phrase::kShareOfTask)},
               {title(Phrase::kFunction), Align::kLeft, true},
               {title(Phrase::kLine), Align::kLeft, true},
               {title(Phrase::kWaiting)},
               {title(Phrase::kSamples)}});
  const size_t most = all ? hot.tasks.size() : std::min(hot.tasks.size(), kMaxTasks);
  for (size_t i = 0; i < most; ++i) {
    const std::string name = NameOf(hot.tasks[i], hot.tasks.size() == 1, style.language);
    AddTask(hot.tasks[i], name, all, style.language, table);
  }
  return Title(hot, style) + table.Render(style);
}

json HotSpotsJson(const analysis::HotSpots& hot) {
  json tasks = json::array();
  for (const TaskHotSpots& task : hot.tasks) {
    json lines = json::array();
    for (const HotSpot& spot : task.spots) lines.push_back(SpotJson(spot));
    tasks.push_back({{"task", task.task.empty() ? json() : json(task.task)},
                     {"seconds", static_cast<double>(task.weight_ns) * kSecond},
                     {"samples", task.samples},
                     {"lines", std::move(lines)}});
  }
  json rejected = json::object();
  for (const auto& [reason, count] : hot.meta.rejected) rejected[reason] = count;
  return {{"rate_hz", hot.meta.rate_hz},
          {"achieved_rate_hz", hot.meta.achieved_rate_hz},
          {"missed", hot.meta.missed},
          {"rejected", std::move(rejected)},
          {"sampler_cpu_seconds", static_cast<double>(hot.meta.cost_cpu_ns) * kSecond},
          {"tasks", std::move(tasks)}};
}

}  // namespace wf::report
