#include <nlohmann/json.hpp>

#include "base/states.h"
#include "report/hot_spots.h"
#include "report/json_parts.h"
#include "report/run_report.h"

namespace wf::report {
namespace {

using nlohmann::json;
constexpr double kSecond = 1e-9;

json Optional(const std::optional<double>& value) { return value ? json(*value) : json(); }

double InSeconds(int64_t ns) { return static_cast<double>(ns) * kSecond; }

json StatesJson(const analysis::TaskSummary& task) {
  json states = json::object();
  for (size_t i = 0; i < task.nodes_by_state.size(); ++i) {
    if (task.nodes_by_state[i] > 0)
      states[std::string(base::Name(static_cast<base::NodeState>(i)))] = task.nodes_by_state[i];
  }
  return states;
}

json TaskJson(const analysis::TaskSummary& task) {
  return {
      {"task", task.name},
      {"nodes", task.nodes},
      {"nodes_by_state", StatesJson(task)},
      {"attempts", task.attempts},
      {"failed_attempts", task.failed_attempts},
      {"wall_seconds", InSeconds(task.wall_ns)},
      {"share", task.share},
      {"attempt_wall_seconds",
       {{"count", task.attempt_walls.count},
        {"total", InSeconds(task.attempt_walls.total_ns)},
        {"median", InSeconds(task.attempt_walls.median_ns)},
        {"max", InSeconds(task.attempt_walls.max_ns)}}},
      {"queue_seconds", InSeconds(task.queue_ns)},
      {"concurrency", task.concurrency},
      {"cpu_seconds", FigureJson(task.cpu_ns.figure, kSecond)},
      {"cpu_wait_seconds", FigureJson(task.cpu_wait_ns.figure, kSecond)},
      {"cores_used", Optional(task.cores_used)},
      {"cores_per_attempt", Optional(task.cores_per_attempt)},
      {"machine_cores_used", Optional(task.machine_cores_used)},
      {"cpus_allocated", task.cpus_allocated_milli == 0 ? json() : json(task.cpus_allocated_milli / 1000.0)},
      {"memory_peak_bytes", FigureJson(task.memory_peak_bytes.figure)},
      {"read_bytes", FigureJson(task.read_bytes.figure)},
      {"write_bytes", FigureJson(task.write_bytes.figure)},
      {"device_read_bytes", FigureJson(task.device_read_bytes.figure)},
      {"device_write_bytes", FigureJson(task.device_write_bytes.figure)},
      {"net_received_bytes", FigureJson(task.net_received_bytes.figure)},
      {"net_sent_bytes", FigureJson(task.net_sent_bytes.figure)},
      {"gpu_memory_bytes", FigureJson(task.gpu_memory_bytes.figure)},
      {"gpu_busy_seconds", FigureJson(task.gpu_busy_ns.figure, kSecond)},
      {"energy_joules", FigureJson(task.energy_uj.figure, 1e-6)},
      {"path_seconds", InSeconds(task.path_ns)},
      {"path_share", task.path_share},
  };
}

json TotalsJson(const analysis::RunTotals& totals) {
  return {
      {"wall_seconds", InSeconds(totals.wall_ns)},
      {"nodes", totals.nodes},
      {"attempts", totals.attempts},
      {"cpu_seconds", FigureJson(totals.cpu_ns.figure, kSecond)},
      {"memory_peak_bytes", FigureJson(totals.memory_peak_bytes.figure)},
      {"idle_seconds", InSeconds(totals.idle_ns)},
      {"idle_while_ready_seconds", InSeconds(totals.idle_ready_ns)},
      {"before_first_seconds", InSeconds(totals.before_first_ns)},
      {"after_last_seconds", InSeconds(totals.after_last_ns)},
  };
}

}  // namespace

std::string RunReportJson(const RunReport& report, Language language) {
  json document = Document("report");
  document["run"] = RunJson(report.run);
  document["totals"] = TotalsJson(report.summary.totals);
  document["tasks"] = json::array();
  for (const analysis::TaskSummary& task : report.summary.tasks) document["tasks"].push_back(TaskJson(task));
  const auto& bottleneck = report.verdict.bottleneck;
  document["bottleneck"] = bottleneck ? FindingJson(*bottleneck, language) : json();
  document["findings"] = json::array();
  for (const analysis::Finding& finding : report.verdict.others) {
    document["findings"].push_back(FindingJson(finding, language));
  }
  document["absent"] = json::array();
  for (const AbsentFigure& figure : report.absent) {
    document["absent"].push_back({{"figure", figure.id}, {"reason", figure.reason}});
  }
  document["stacks"] = report.hot ? HotSpotsJson(*report.hot) : json();
  return ToText(document);
}

}  // namespace wf::report
