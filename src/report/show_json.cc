#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/run_index.h"
#include "base/states.h"
#include "report/json_parts.h"
#include "report/show.h"

namespace wf::report {
namespace {

using nlohmann::json;
using profile::RunRecord;
constexpr double kSecond = 1e-9;

json UsageJson(const profile::Usage& usage) {
  return {
      {"cpu_seconds", FigureJson(usage.cpu_ns, kSecond)},
      {"cpu_wait_seconds", FigureJson(usage.cpu_wait_ns, kSecond)},
      {"cpus_allocated", usage.cpus_allocated_milli == 0 ? json() : json(usage.cpus_allocated_milli / 1000.0)},
      {"memory_peak_bytes", FigureJson(usage.memory_peak_bytes)},
      {"read_bytes", FigureJson(usage.read_bytes)},
      {"write_bytes", FigureJson(usage.write_bytes)},
      {"device_read_bytes", FigureJson(usage.device_read_bytes)},
      {"device_write_bytes", FigureJson(usage.device_write_bytes)},
      {"net_received_bytes", FigureJson(usage.net_received_bytes)},
      {"net_sent_bytes", FigureJson(usage.net_sent_bytes)},
      {"gpu_memory_bytes", FigureJson(usage.gpu_memory_bytes)},
      {"gpu_busy_seconds", FigureJson(usage.gpu_busy_ns, kSecond)},
      {"energy_joules", FigureJson(usage.energy_uj, 1e-6)},
  };
}

json AttemptJson(const analysis::Interval& interval, int64_t run_start_ns) {
  const profile::Attempt& attempt = *interval.attempt;
  return {
      {"number", attempt.number},
      {"state", base::Name(attempt.state)},
      {"start_seconds", static_cast<double>(interval.start_ns - run_start_ns) * kSecond},
      {"wall_seconds", interval.finished ? json(static_cast<double>(interval.wall_ns()) * kSecond) : json()},
      {"worker", attempt.worker},
      {"process", attempt.process},
      {"tid", attempt.tid},
      {"sampled", attempt.sampled},
      {"cause", attempt.cause},
      {"traceback", attempt.traceback},
      {"usage", UsageJson(attempt.usage)},
  };
}

json NodeJson(const RunRecord& record, const analysis::RunIndex& index, size_t n) {
  const profile::Node& node = record.nodes[n];
  const bool known = node.task >= 1 && node.task <= record.tasks.size();
  json document = {
      {"node", node.id},
      {"task", known ? json(record.tasks[node.task - 1].name) : json()},
      {"map_index", node.map_index < 0 ? json() : json(node.map_index)},
      {"parent", node.parent == 0 ? json() : json(node.parent)},
      {"state", base::Name(node.state)},
      {"cause", node.cause},
      {"cause_node", node.cause_node == 0 ? json() : json(node.cause_node)},
      {"attempts", json::array()},
  };
  for (const size_t i : index.of_node[n]) {
    document["attempts"].push_back(AttemptJson(index.intervals[i], index.start_ns));
  }
  json& after = document["depends_on"] = json::array();
  for (const size_t dependency : index.dependencies[n]) after.push_back(dependency + 1);
  return document;
}

json ProcessJson(const profile::Process& process) {
  return {{"process", process.id}, {"host", process.host}, {"pid", process.pid}, {"name", process.name}};
}

json TaskJson(const profile::Task& task) {
  return {
      {"task", task.name}, {"qualname", task.qualname}, {"file", task.file}, {"line", task.line}, {"kind", task.kind}};
}

}  // namespace

std::string ShowJson(const RunRecord& record, const ShowOptions& options) {
  const analysis::RunIndex index(record);
  json document = Document("show");
  document["run"] = RunJson(record.run);
  document["run"]["wall_seconds"] = static_cast<double>(index.wall_ns()) * kSecond;
  document["processes"] = json::array();
  for (const profile::Process& process : record.processes) document["processes"].push_back(ProcessJson(process));
  document["tasks"] = json::array();
  for (const profile::Task& task : record.tasks) document["tasks"].push_back(TaskJson(task));
  const size_t shown = options.all ? record.nodes.size() : std::min(record.nodes.size(), kShownNodes);
  document["nodes_total"] = record.nodes.size();
  document["nodes"] = json::array();
  for (size_t n = 0; n < record.nodes.size(); ++n) {
    // Failures are never left out for being late in the list.
    if (n < shown || record.nodes[n].state == base::NodeState::kFailed) {
      document["nodes"].push_back(NodeJson(record, index, n));
    }
  }
  return ToText(document);
}

}  // namespace wf::report
