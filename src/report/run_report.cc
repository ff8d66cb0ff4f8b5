#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/states.h"
#include "report/format.h"
#include "report/hot_spots.h"
#include "report/phrases.h"
#include "report/rule_texts.h"
#include "report/table.h"

namespace wf::report {
namespace {

using analysis::Amount;
using analysis::Finding;
using analysis::TaskSummary;

constexpr size_t kMaxTasks = 40;

std::string BytesCell(const Amount& amount, Language language) {
  return Marked(amount.figure.quality, Bytes(amount.value(), language));
}

std::string ReadWritten(const TaskSummary& task, Language language) {
  if (!task.read_bytes.present() && !task.write_bytes.present()) return std::string(kAbsentMark);
  return BytesCell(task.read_bytes, language) + " / " + BytesCell(task.write_bytes, language);
}

std::string CoresCell(const std::optional<double>& cores, profile::Quality quality, int32_t usable_milli,
                      Language language) {
  if (!cores) return std::string(kAbsentMark);
  std::string used = Marked(quality, Number(*cores, language));
  if (usable_milli == 0) return used;
  const double usable = usable_milli / 1000.0;
  const std::string total = usable_milli % 1000 == 0 ? fmt::format("{:.0f}", usable) : Number(usable, language);
  return fmt::format("{} {} {}", used, Say(Phrase::kOf, language), total);
}

std::string AttemptsCell(const TaskSummary& task, Language language) {
  if (task.failed_attempts == 0) return fmt::format("{}", task.attempts);
  return fmt::format("{} ({} {})", task.attempts, task.failed_attempts, Say(Phrase::kFailed, language));
}

std::vector<Cell> TaskRow(const TaskSummary& task, const RunReport& report, Language language) {
  const auto wall = static_cast<double>(task.wall_ns);
  const bool is_bottleneck = report.verdict.bottleneck && report.verdict.bottleneck->task == task.name;
  return {
      Cell(OneLine(task.name), is_bottleneck ? Tone::kStrong : Tone::kPlain),
      Cell(AttemptsCell(task, language), task.failed_attempts > 0 ? Tone::kBad : Tone::kPlain),
      task.attempts > 0 ? Duration(wall, language) : std::string(kAbsentMark),
      Marked(task.cpu_ns.figure.quality, Seconds(task.cpu_ns.value(), language)),
      CoresCell(task.cores_used, task.cpu_ns.figure.quality, report.run.usable_cpus_milli, language),
      BytesCell(task.memory_peak_bytes, language),
      ReadWritten(task, language),
      BytesCell(task.gpu_memory_bytes, language),
      task.attempts > 0 ? Percent(task.share, language) : std::string(kAbsentMark),
  };
}

std::vector<Cell> TotalRow(const RunReport& report, Language language) {
  const analysis::RunTotals& totals = report.summary.totals;
  std::optional<double> cores;
  if (totals.cpu_ns.present() && totals.wall_ns > 0) {
    cores = totals.cpu_ns.value() / static_cast<double>(totals.wall_ns);
  }
  return {
      Cell(std::string(Say(Phrase::kWholeRun, language)), Tone::kFaint),
      fmt::format("{}", totals.attempts),
      Duration(static_cast<double>(totals.wall_ns), language),
      Marked(totals.cpu_ns.figure.quality, Seconds(totals.cpu_ns.value(), language)),
      CoresCell(cores, totals.cpu_ns.figure.quality, report.run.usable_cpus_milli, language),
      BytesCell(totals.memory_peak_bytes, language),
      std::string(),
      std::string(),
      std::string(),
  };
}

std::string TableText(const RunReport& report, bool all, const Style& style) {
  const Language language = style.language;
  const auto title = [&](Phrase phrase) { return std::string(Say(phrase, language)); };
  Table table({{title(Phrase::kTask), Align::kLeft, true},
               {title(Phrase::kAttempts)},
               {title(Phrase::kWall)},
               {title(Phrase::kCpuSeconds)},
               {title(Phrase::kCoresUsed)},
               {title(Phrase::kPeakMemory)},
               {title(Phrase::kReadWritten)},
               {title(Phrase::kGpuMemory)},
               {title(Phrase::kShareOfRun)}});
  const std::vector<TaskSummary>& tasks = report.summary.tasks;
  const size_t shown = all ? tasks.size() : std::min(tasks.size(), kMaxTasks);
  for (size_t i = 0; i < shown; ++i) table.AddRow(TaskRow(tasks[i], report, language));
  table.AddRow(TotalRow(report, language));
  std::string text = table.Render(style);
  if (shown < tasks.size()) text += fmt::format("… {} more (--all)\n", tasks.size() - shown);
  return text;
}

// Breaks `text` at spaces so that no line passes the width, and indents all lines.
std::string Wrapped(const std::string& text, std::string_view first_indent, std::string_view indent, int width) {
  const size_t limit = width > 0 ? static_cast<size_t>(std::max(width, 40)) : 120;
  std::string result(first_indent);
  size_t column = DisplayWidth(first_indent);
  bool at_start = true;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    const std::string word = text.substr(i, end - i);
    i = end + 1;
    if (!at_start && column + 1 + DisplayWidth(word) > limit) {
      result += fmt::format("\n{}", indent);
      column = DisplayWidth(indent);
      at_start = true;
    }
    if (!at_start) result += ' ';
    column += DisplayWidth(word) + (at_start ? 0 : 1);
    result += word;
    at_start = false;
  }
  return result + "\n";
}

std::string AdviceText(const RuleText& text, const Style& style) {
  std::string result;
  for (size_t i = 0; i < text.advice.size(); ++i) {
    const std::string first = i == 0 ? fmt::format("  {}: ", Say(Phrase::kTry, style.language)) : "  - ";
    result += Wrapped(text.advice[i], i == 0 ? first : "       ", "       ", style.width);
  }
  return result;
}

std::string BottleneckText(const RunReport& report, const Style& style) {
  const Language language = style.language;
  if (!report.verdict.bottleneck) return std::string(Say(Phrase::kNothingRan, language)) + "\n";
  const Finding& finding = *report.verdict.bottleneck;
  const RuleText text = TextOf(finding, language);
  std::string result =
      Paint(style, Tone::kStrong, fmt::format("{}: {}", Say(Phrase::kBottleneck, language), OneLine(finding.task)));
  result +=
      fmt::format(" ({} {})\n", Percent(finding.figures.at("path_share"), language), Say(Phrase::kOnPath, language));
  result += Wrapped(fmt::format("{}: {}", Say(Phrase::kWhy, language), text.why), "  ", "       ", style.width);
  result += AdviceText(text, style);
  const double rest = static_cast<double>(report.summary.totals.wall_ns) - finding.figures.at("path_ns");
  result += fmt::format("  {} {}.\n", Say(Phrase::kAtBest, language), Duration(std::max(0.0, rest), language));
  return result;
}

std::string OthersText(const RunReport& report, const Style& style) {
  std::string result;
  for (const Finding& finding : report.verdict.others) {
    const RuleText text = TextOf(finding, style.language);
    const std::string subject = finding.task.empty() ? std::string() : fmt::format("{}: ", OneLine(finding.task));
    result += '\n';
    result += Wrapped(fmt::format("{}: {}{}", Say(Phrase::kAlso, style.language), subject, text.why), "", "       ",
                      style.width);
    result += AdviceText(text, style);
  }
  return result;
}

std::string AbsentText(const RunReport& report, const Style& style) {
  if (report.absent.empty()) return "";
  std::string result = fmt::format("\n{}:\n", Say(Phrase::kNotMeasured, style.language));
  std::vector<std::pair<std::string, std::string>> by_reason;  // reason -> names; each reason once
  for (const AbsentFigure& figure : report.absent) {
    auto same =
        std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& r) { return r.first == figure.reason; });
    if (same == by_reason.end()) same = by_reason.insert(same, {figure.reason, ""});
    same->second += fmt::format("{}{}", same->second.empty() ? "" : ", ", FigureName(figure.id, style.language));
  }
  for (const auto& [reason, names] : by_reason) {
    result += Wrapped(reason.empty() ? names : fmt::format("{}: {}", names, reason), "  ", "    ", style.width);
  }
  return result;
}

std::string Legend(const std::string& body, Language language) {
  std::string legend;
  if (body.find('~') != std::string::npos) legend += fmt::format("{}\n", Say(Phrase::kLegendEstimated, language));
  if (body.find("≈") != std::string::npos) legend += fmt::format("{}\n", Say(Phrase::kLegendShared, language));
  return legend;
}

}  // namespace

Tone ToneOf(base::RunState state) {
  switch (state) {
    case base::RunState::kSuccess: return Tone::kGood;
    case base::RunState::kFailed:
    case base::RunState::kLost: return Tone::kBad;
    default: return Tone::kPlain;
  }
}

std::string RunHeadline(const profile::Run& run, int64_t wall_ns, const Style& style) {
  std::string line = fmt::format(
      "Run {}  {}  {}  {}", run.id.ToString(), Paint(style, Tone::kStrong, OneLine(run.workflow)),
      Paint(style, ToneOf(run.state), base::Name(run.state)), Duration(static_cast<double>(wall_ns), style.language));
  if (!run.executor.empty()) line += fmt::format("  {}", OneLine(run.executor));
  if (run.workers > 0) line += fmt::format(", {} {}", run.workers, run.workers == 1 ? "worker" : "workers");
  line += fmt::format("  {}\n", LocalTime(run.start_wall_ns));
  if (run.state != base::RunState::kSuccess && !run.cause.empty()) line += fmt::format("  {}\n", OneLine(run.cause));
  return line;
}

std::string RunReportText(const RunReport& report, bool all, const Style& style) {
  const std::string table = TableText(report, all, style);
  const std::string hot = report.hot ? HotSpotsText(*report.hot, all, style) : std::string();
  std::string text = RunHeadline(report.run, report.summary.totals.wall_ns, style);
  if (report.run.kind == profile::RunKind::kRecording) return text + '\n' + hot;
  text += fmt::format("\n{}{}\n", table, Legend(table, style.language));
  text += BottleneckText(report, style);
  text += OthersText(report, style);
  if (!hot.empty()) text += '\n' + hot;
  text += AbsentText(report, style);
  return text;
}

}  // namespace wf::report
