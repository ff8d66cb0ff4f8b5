#include "report/diff.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/json_parts.h"
#include "report/run_report.h"
#include "report/table.h"

namespace wf::report {
namespace {

using analysis::Change;
using analysis::DiffRow;
using profile::Figure;

enum class Unit { kTime, kSeconds, kBytes };

std::string Value(const Figure& figure, Unit unit, Language language) {
  const auto value = static_cast<double>(figure.value);
  if (unit == Unit::kBytes) return Marked(figure.quality, Bytes(value, language));
  return Marked(figure.quality, unit == Unit::kTime ? Duration(value, language) : Seconds(value, language));
}

void AddChange(const Change& change, Unit unit, Language language, std::vector<Cell>* row) {
  row->emplace_back(Value(change.before, unit, language));
  row->emplace_back(Value(change.after, unit, language));
  if (!change.ratio) {
    row->emplace_back(std::string(kAbsentMark));
    return;
  }
  // Colours only for what is clearly beyond the noise of a single pair.
  Tone tone = Tone::kPlain;
  if (*change.ratio <= 0.9) tone = Tone::kGood;
  if (*change.ratio >= 1.1) tone = Tone::kBad;
  row->emplace_back(RatioText(*change.ratio, language), tone);
}

std::vector<Cell> RowOf(const DiffRow& change, Language language) {
  std::string name = change.task.empty() ? "(whole run)" : OneLine(change.task);
  if (!change.in_before) name += " (only after)";
  if (!change.in_after) name += " (only before)";
  std::vector<Cell> row = {Cell(std::move(name))};
  AddChange(change.wall_ns, Unit::kTime, language, &row);
  AddChange(change.cpu_ns, Unit::kSeconds, language, &row);
  AddChange(change.memory_peak_bytes, Unit::kBytes, language, &row);
  return row;
}

nlohmann::json ChangeJson(const Change& change, double scale) {
  return {{"before", FigureJson(change.before, scale)},
          {"after", FigureJson(change.after, scale)},
          {"ratio", change.ratio ? nlohmann::json(*change.ratio) : nlohmann::json()}};
}

nlohmann::json RowJson(const DiffRow& row) {
  return {{"in_before", row.in_before},
          {"in_after", row.in_after},
          {"attempts_before", row.attempts_before},
          {"attempts_after", row.attempts_after},
          {"wall_seconds", ChangeJson(row.wall_ns, 1e-9)},
          {"cpu_seconds", ChangeJson(row.cpu_ns, 1e-9)},
          {"memory_peak_bytes", ChangeJson(row.memory_peak_bytes, 1)}};
}

}  // namespace

std::string DiffText(const RunDiff& diff, const Style& style) {
  const auto wall = [](const profile::Figure& figure) { return figure.value; };
  std::string text = "before: " + RunHeadline(diff.before, wall(diff.diff.run.wall_ns.before), style) +
                     "after:  " + RunHeadline(diff.after, wall(diff.diff.run.wall_ns.after), style) + "\n";
  Table table({{"task", Align::kLeft, true},
               {"wall before"},
               {"after"},
               {"ratio"},
               {"CPU s before"},
               {"after"},
               {"ratio"},
               {"memory before"},
               {"after"},
               {"ratio"}});
  table.AddRow(RowOf(diff.diff.run, style.language));
  for (const DiffRow& row : diff.diff.tasks) table.AddRow(RowOf(row, style.language));
  text += table.Render(style);
  if (diff.before.workflow != diff.after.workflow) {
    text += fmt::format("\nThe runs are of different workflows ({} and {}).\n", OneLine(diff.before.workflow),
                        OneLine(diff.after.workflow));
  }
  if (diff.diff.runs_before == 1 && diff.diff.runs_after == 1) {
    text +=
        "\nOne run before and one after (n = 1 and 1): the ratios are what was measured this once; noise is not "
        "told apart from change.\n";
  }
  return text;
}

std::string DiffJson(const RunDiff& diff) {
  nlohmann::json document = Document("diff");
  document["before"] = RunJson(diff.before);
  document["after"] = RunJson(diff.after);
  document["n_before"] = diff.diff.runs_before;
  document["n_after"] = diff.diff.runs_after;
  document["run"] = RowJson(diff.diff.run);
  document["tasks"] = nlohmann::json::array();
  for (const DiffRow& row : diff.diff.tasks) {
    nlohmann::json task = RowJson(row);
    task["task"] = row.task;
    document["tasks"].push_back(std::move(task));
  }
  return ToText(document);
}

}  // namespace wf::report
