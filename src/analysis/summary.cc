#include "analysis/summary.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/run_path.h"
#include "analysis/timeline.h"

namespace wf::analysis {
namespace {

using profile::Figure;
using profile::Quality;

// Shared says more than estimated: the reader must know that others are in the figure.
Quality Weaker(Quality a, Quality b) {
  if (a == Quality::kAbsent) return b;
  if (b == Quality::kAbsent) return a;
  if (a == Quality::kShared || b == Quality::kShared) return Quality::kShared;
  if (a == Quality::kEstimated || b == Quality::kEstimated) return Quality::kEstimated;
  return Quality::kMeasured;
}

void AddTo(Amount* sum, const Figure& part, double own_part) {
  if (!part.present()) return;
  const bool shared = part.quality == Quality::kShared;
  sum->figure.value += shared ? std::llround(static_cast<double>(part.value) * own_part) : part.value;
  sum->figure.quality = Weaker(sum->figure.quality, part.quality);
  ++sum->attempts_measured;
}

void RaiseTo(Amount* maximum, const Figure& part) {
  if (!part.present()) return;
  ++maximum->attempts_measured;
  if (maximum->present() && part.value <= maximum->figure.value) return;
  maximum->figure = part;  // the quality of a maximum is that of the attempt that reached it
}

void AddUsage(const profile::Usage& usage, double own_part, TaskSummary* task) {
  AddTo(&task->cpu_ns, usage.cpu_ns, own_part);
  AddTo(&task->read_bytes, usage.read_bytes, own_part);
  AddTo(&task->write_bytes, usage.write_bytes, own_part);
  AddTo(&task->device_read_bytes, usage.device_read_bytes, own_part);
  AddTo(&task->device_write_bytes, usage.device_write_bytes, own_part);
  AddTo(&task->net_received_bytes, usage.net_received_bytes, own_part);
  AddTo(&task->net_sent_bytes, usage.net_sent_bytes, own_part);
  AddTo(&task->gpu_busy_ns, usage.gpu_busy_ns, own_part);
  AddTo(&task->energy_uj, usage.energy_uj, own_part);
  AddTo(&task->cpu_wait_ns, usage.cpu_wait_ns, 1);  // of the attempt's own thread, never of the process
  RaiseTo(&task->memory_peak_bytes, usage.memory_peak_bytes);
  RaiseTo(&task->gpu_memory_bytes, usage.gpu_memory_bytes);
  task->cpus_allocated_milli = std::max(task->cpus_allocated_milli, usage.cpus_allocated_milli);
}

void MarkIncomplete(Amount* sum, uint64_t attempts) {
  if (sum->figure.quality == Quality::kMeasured && sum->attempts_measured < attempts) {
    sum->figure.quality = Quality::kEstimated;
  }
}

void MarkIncompleteSums(TaskSummary* task) {
  for (Amount* sum :
       {&task->cpu_ns, &task->read_bytes, &task->write_bytes, &task->device_read_bytes, &task->device_write_bytes,
        &task->net_received_bytes, &task->net_sent_bytes, &task->gpu_busy_ns, &task->energy_uj, &task->cpu_wait_ns}) {
    MarkIncomplete(sum, task->attempts);
  }
}

AttemptWalls WallsOf(std::vector<int64_t> walls) {
  AttemptWalls result;
  result.count = walls.size();
  if (walls.empty()) return result;
  std::sort(walls.begin(), walls.end());
  for (const int64_t wall : walls) result.total_ns += wall;
  const size_t middle = walls.size() / 2;
  result.median_ns =
      walls.size() % 2 == 1 ? walls[middle] : walls[middle - 1] + (walls[middle] - walls[middle - 1]) / 2;
  result.max_ns = walls.back();
  return result;
}

bool Failed(base::AttemptState state) {
  return state == base::AttemptState::kError || state == base::AttemptState::kTimeout ||
         state == base::AttemptState::kLost;
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

class Summarizer {
 public:
  explicit Summarizer(const profile::RunRecord& record) : index_(record), timeline_(MakeTimeline(index_)) {
    tasks_.resize(record.tasks.size());
    walls_.resize(record.tasks.size());
    cpu_attempt_wall_ns_.resize(record.tasks.size());
  }

  RunSummary Run() {
    for (size_t t = 0; t < tasks_.size(); ++t) {
      tasks_[t].task = index_.record.tasks[t].id;
      tasks_[t].name = index_.record.tasks[t].name;
    }
    AddNodes();
    for (size_t i = 0; i < index_.intervals.size(); ++i) AddAttempt(i);
    for (const PathStep& step : FindRunPath(index_)) tasks_[step.task].path_ns += step.end_ns - step.start_ns;
    for (size_t t = 0; t < tasks_.size(); ++t) Finish(t);
    RunSummary summary;
    summary.totals = Totals();
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const TaskSummary& a, const TaskSummary& b) { return a.wall_ns > b.wall_ns; });
    summary.tasks = std::move(tasks_);
    return summary;
  }

 private:
  void AddNodes() {
    for (const profile::Node& node : index_.record.nodes) {
      if (node.task < 1 || node.task > tasks_.size()) continue;
      TaskSummary& task = tasks_[node.task - 1];
      ++task.nodes;
      const auto state = static_cast<size_t>(node.state);
      if (state < task.nodes_by_state.size()) ++task.nodes_by_state[state];
      const std::vector<size_t>& attempts = index_.of_node[node.id - 1];
      if (attempts.empty() || node.ready_ns == 0) continue;
      task.queue_ns += std::max<int64_t>(0, index_.intervals[attempts.front()].start_ns - node.ready_ns);
    }
  }

  void AddAttempt(size_t i) {
    const Interval& interval = index_.intervals[i];
    TaskSummary& task = tasks_[interval.task];
    const int64_t start = interval.start_ns - index_.start_ns;
    task.first_start_ns = task.attempts == 0 ? start : std::min(task.first_start_ns, start);
    ++task.attempts;
    if (Failed(interval.attempt->state)) ++task.failed_attempts;
    if (interval.finished) walls_[interval.task].push_back(interval.wall_ns());
    if (interval.attempt->usage.cpu_ns.present()) cpu_attempt_wall_ns_[interval.task] += interval.wall_ns();
    AddUsage(interval.attempt->usage, timeline_.own_part[i], &task);
    task.alone = std::min(task.alone, timeline_.own_part[i]);
  }

  void Finish(size_t t) {
    TaskSummary& task = tasks_[t];
    const TaskTimeline& times = timeline_.tasks[t];
    task.wall_ns = times.wall_ns;
    task.attempt_walls = WallsOf(std::move(walls_[t]));
    const auto run_wall = static_cast<double>(index_.wall_ns());
    task.share = Ratio(static_cast<double>(task.wall_ns), run_wall);
    task.path_share = Ratio(static_cast<double>(task.path_ns), run_wall);
    task.concurrency = Ratio(static_cast<double>(task.attempt_walls.total_ns), static_cast<double>(task.wall_ns));
    if (task.cpu_ns.present() && times.cpu_wall_ns > 0) {
      task.cores_used = task.cpu_ns.value() / static_cast<double>(times.cpu_wall_ns);
      task.cores_per_attempt = Ratio(task.cpu_ns.value(), static_cast<double>(cpu_attempt_wall_ns_[t]));
      task.machine_cores_used = Ratio(times.machine_cpu_ns, static_cast<double>(times.wall_ns));
    }
    MarkIncompleteSums(&task);
  }

  RunTotals Totals() const {
    RunTotals totals;
    totals.wall_ns = index_.wall_ns();
    totals.ended = index_.record.run.end_ns != 0;
    totals.nodes = index_.record.nodes.size();
    totals.attempts = index_.intervals.size();
    totals.idle_ns = timeline_.idle_ns;
    totals.idle_ready_ns = timeline_.idle_ready_ns;
    totals.before_first_ns = timeline_.before_first_ns;
    totals.after_last_ns = timeline_.after_last_ns;
    for (const TaskSummary& task : tasks_) {
      totals.cpu_ns.figure.value += task.cpu_ns.figure.value;
      totals.cpu_ns.figure.quality = Weaker(totals.cpu_ns.figure.quality, task.cpu_ns.figure.quality);
      totals.cpu_ns.attempts_measured += task.cpu_ns.attempts_measured;
      RaiseTo(&totals.memory_peak_bytes, task.memory_peak_bytes.figure);
    }
    MarkIncomplete(&totals.cpu_ns, totals.attempts);
    return totals;
  }

  RunIndex index_;
  Timeline timeline_;
  std::vector<TaskSummary> tasks_;
  std::vector<std::vector<int64_t>> walls_;
  std::vector<int64_t> cpu_attempt_wall_ns_;
};

}  // namespace

RunSummary Summarize(const profile::RunRecord& record) { return Summarizer(record).Run(); }

std::vector<std::string> AbsentFigures(const RunSummary& summary) {
  static constexpr std::array<std::pair<std::string_view, Amount TaskSummary::*>, 8> kFigures = {{
      {"cpu", &TaskSummary::cpu_ns},
      {"memory", &TaskSummary::memory_peak_bytes},
      {"io_bytes", &TaskSummary::read_bytes},
      {"device_bytes", &TaskSummary::device_read_bytes},
      {"network_bytes", &TaskSummary::net_received_bytes},
      {"gpu_memory", &TaskSummary::gpu_memory_bytes},
      {"gpu_busy", &TaskSummary::gpu_busy_ns},
      {"energy", &TaskSummary::energy_uj},
  }};
  std::vector<std::string> absent;
  if (summary.totals.attempts == 0) return absent;
  for (const auto& [id, amount] : kFigures) {
    const bool somewhere =
        std::any_of(summary.tasks.begin(), summary.tasks.end(),
                    [&, member = amount](const TaskSummary& task) { return (task.*member).present(); });
    if (!somewhere) absent.emplace_back(id);
  }
  return absent;
}

}  // namespace wf::analysis
