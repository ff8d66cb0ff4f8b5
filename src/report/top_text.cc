#include "report/top_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/recording.h"
#include "report/table.h"

namespace wf::report {
namespace {

using analysis::TopModel;
using analysis::TopRow;
using analysis::TopThread;

constexpr double kNsPerSecond = 1e9;

double Share(int64_t part_ns, int64_t basis_ns) {
  return basis_ns <= 0 ? 0 : static_cast<double>(part_ns) / static_cast<double>(basis_ns);
}

}  // namespace

const std::array<const char*, 4>& TopTitles() {
  static constexpr std::array kTitles = {"%Own", "%Total", "OwnTime", "TotalTime"};
  return kTitles;
}

std::string TopShare(int64_t part_ns, int64_t basis_ns) {
  return fmt::format("{:.1f}", 100 * Share(part_ns, basis_ns));
}

std::string TopSeconds(int64_t ns) { return fmt::format("{:.2f}s", static_cast<double>(ns) / kNsPerSecond); }

std::string TopBasis(int64_t basis_ns, int64_t clock_ns) {
  return fmt::format("100 % = {:.3g} s of {}", static_cast<double>(basis_ns) / kNsPerSecond,
                     basis_ns > clock_ns ? "all threads" : "the clock");
}

std::string TopState(const TopThread& thread) {
  std::string words = (thread.state & profile::kIdle) != 0 ? "idle" : "active";
  if ((thread.state & profile::kHoldsGil) != 0) words += "+gil";
  return words;
}

std::string TopThreadsLine(const TopModel& model, bool of_all_time) {
  const int64_t clock_ns = of_all_time ? model.elapsed_ns() : model.window_ns();
  const analysis::TopActivity& activity = of_all_time ? model.activity() : model.window_activity();
  std::string text = fmt::format("GIL {:.0f} %, active {:.0f} %", 100 * Share(activity.gil_ns, clock_ns),
                                 100 * Share(activity.active_ns, clock_ns));
  const std::vector<TopThread> threads = model.Threads();
  if (threads.empty()) return text;
  const auto active = std::count_if(threads.begin(), threads.end(),
                                    [](const TopThread& thread) { return (thread.state & profile::kIdle) == 0; });
  return text + fmt::format(", {} thread{} ({} active)", threads.size(), threads.size() == 1 ? "" : "s", active);
}

std::string TopText(const TopModel& model, const TopTextOptions& options, TopNames& names, const Style& style) {
  names.Learn(model.places());
  const auto& thread = options.query.thread;
  const int64_t basis_ns = options.of_all_time ? model.BasisNs(thread) : model.WindowBasisNs(thread);
  std::string text = RecordingText(model.Meta(), "wf top") + "\n";
  text += fmt::format("{}; {}\n", TopThreadsLine(model, options.of_all_time),
                      TopBasis(basis_ns, options.of_all_time ? model.elapsed_ns() : model.window_ns()));
  std::vector<Column> columns;
  for (const char* title : TopTitles()) columns.push_back({title});
  columns.push_back({"Function (file:line)", Align::kLeft, true});
  Table table(std::move(columns));
  const std::vector<TopRow> rows = model.Rows(options.query);
  for (const auto& [place, window, all] : rows) {
    const analysis::TopTimes& shown = options.of_all_time ? all : window;
    table.AddRow({TopShare(shown.own_ns, basis_ns), TopShare(shown.total_ns, basis_ns), TopSeconds(all.own_ns),
                  TopSeconds(all.total_ns), names.LabelOf(*place)});
  }
  text += table.Render(style);
  const size_t count = model.CountRows(options.query);
  if (count > rows.size()) text += fmt::format("and {} more\n", count - rows.size());
  return text;
}

}  // namespace wf::report
