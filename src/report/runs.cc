#include "report/runs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/states.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/run_report.h"
#include "report/table.h"

namespace wf::report {
namespace {

std::string NodesCell(const RunLine& line) {
  if (line.failed_nodes == 0) return fmt::format("{}", line.nodes);
  return fmt::format("{} ({} failed)", line.nodes, line.failed_nodes);
}

std::string TagsCell(const profile::Run& run) {
  std::string text;
  for (const auto& [key, value] : run.tags) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return OneLine(text);
}

}  // namespace

std::string RunsText(const std::vector<RunLine>& runs, const std::string& store, const Style& style) {
  if (runs.empty()) return fmt::format("no runs in {}\n", OneLine(store));
  Table table({{"run", Align::kLeft},
               {"workflow", Align::kLeft, true},
               {"state", Align::kLeft},
               {"started", Align::kLeft},
               {"wall"},
               {"tasks run"},
               {"executor", Align::kLeft},
               {"tags", Align::kLeft, true},
               {"cause", Align::kLeft, true}});
  for (const RunLine& line : runs) {
    const profile::Run& run = line.run;
    table.AddRow({run.id.ToString(), OneLine(run.workflow), Cell(std::string(base::Name(run.state)), ToneOf(run.state)),
                  LocalTime(run.start_wall_ns), Duration(static_cast<double>(line.wall_ns), style.language),
                  Cell(NodesCell(line), line.failed_nodes > 0 ? Tone::kBad : Tone::kPlain), OneLine(run.executor),
                  TagsCell(run),
                  run.state == base::RunState::kSuccess ? std::string() : Shorten(OneLine(run.cause), 80)});
  }
  return table.Render(style);
}

std::string RunsJson(const std::vector<RunLine>& runs, const std::string& store) {
  nlohmann::json document = Document("runs");
  document["store"] = store;
  document["runs"] = nlohmann::json::array();
  for (const RunLine& line : runs) {
    nlohmann::json run = RunJson(line.run);
    run["nodes"] = line.nodes;
    run["failed_nodes"] = line.failed_nodes;
    run["wall_seconds"] = static_cast<double>(line.wall_ns) / 1e9;
    document["runs"].push_back(std::move(run));
  }
  return ToText(document);
}

}  // namespace wf::report
