#include "app/last_runs.h"

#include <algorithm>
#include <utility>

#include "base/states.h"
#include "base/version.h"
#include "profile/run_record.h"
#include "store/store.h"

namespace wf::app {
namespace {

// The same bound as on the page of a run.
constexpr size_t kMostPairs = 500;

enum Family : size_t { kLastDuration, kMemoryPeak, kLastSuccess, kBuildInfo };

std::vector<metrics::FamilySpec> Families() {
  const std::vector<std::string> by_task = {"workflow", "task"};
  return {
      {metrics::Type::kGauge, "task_last_duration_seconds",
       "Duration of the attempt that ended last, in the last finished run of the workflow.", by_task},
      {metrics::Type::kGauge, "task_memory_peak_bytes",
       "Highest resident memory during an attempt of the task, in the last finished run of the workflow.", by_task},
      {metrics::Type::kGauge,
       "workflow_last_success_timestamp_seconds",
       "When a run of the workflow last succeeded, in seconds since 1970.",
       {"workflow"}},
      {metrics::Type::kGauge, "workflow_build_info", "The version of Workflow that serves this page.", {"version"}},
  };
}

struct WorkflowState {
  const store::RunSummary* last_finished = nullptr;
  const store::RunSummary* last_success = nullptr;
};

// Runs come newest first.
std::map<std::string, WorkflowState> ByWorkflow(const std::vector<store::RunSummary>& runs) {
  std::map<std::string, WorkflowState> workflows;
  for (const store::RunSummary& summary : runs) {
    if (summary.run.kind != profile::RunKind::kRun || !base::IsFinal(summary.run.state)) continue;
    WorkflowState& state = workflows[summary.run.workflow];
    if (state.last_finished == nullptr) state.last_finished = &summary;
    if (state.last_success == nullptr && summary.run.state == base::RunState::kSuccess) state.last_success = &summary;
  }
  return workflows;
}

}  // namespace

Status LastRuns::AddTo(metrics::Registry* registry) {
  return registry->AddCollector(Families(), [this](metrics::CollectorSink& sink) { Collect(sink); }).status();
}

LastRuns::RunGauges LastRuns::GaugesOf(const profile::RunRecord& record) {
  RunGauges gauges(record.tasks.size());
  std::vector<int64_t> last_end(gauges.size(), 0);
  for (size_t t = 0; t < gauges.size(); ++t) gauges[t].task = record.tasks[t].name;
  for (const profile::Attempt& attempt : record.attempts) {
    if (attempt.node < 1 || attempt.node > record.nodes.size()) continue;
    const uint32_t task = record.nodes[attempt.node - 1].task;
    if (task < 1 || task > gauges.size()) continue;
    TaskGauges& its = gauges[task - 1];
    if (attempt.end_ns > last_end[task - 1]) {
      last_end[task - 1] = attempt.end_ns;
      its.last_duration_s = static_cast<double>(attempt.end_ns - attempt.start_ns) / 1e9;
    }
    const profile::Figure& peak = attempt.usage.memory_peak_bytes;
    if (peak.present()) its.memory_peak_bytes = std::max(its.memory_peak_bytes, static_cast<double>(peak.value));
  }
  return gauges;
}

void LastRuns::Collect(metrics::CollectorSink& sink) {
  sink.Add(kBuildInfo, 1, {Version()});
  const std::lock_guard lock(mutex_);
  // A store that cannot be read now gives no samples; the absence is what alerts see.
  Result<std::unique_ptr<store::Store>> store = store::Store::Open(folder_, store::Access::kRead);
  if (!store.ok()) return;
  const Result<std::vector<store::RunSummary>> runs = (*store)->ListRuns({});
  if (!runs.ok()) return;
  std::map<base::RunId, RunGauges> shown;
  size_t pairs = 0;
  for (const auto& [workflow, state] : ByWorkflow(*runs)) {
    if (state.last_success != nullptr) {
      const store::RunSummary& success = *state.last_success;
      sink.Add(kLastSuccess, static_cast<double>(success.run.start_wall_ns + success.wall_ns) / 1e9, {workflow});
    }
    const base::RunId id = state.last_finished->run.id;
    auto known = known_.find(id);
    if (known == known_.end()) {
      const Result<profile::RunRecord> record = (*store)->Load(id);
      if (!record.ok()) continue;
      known = known_.emplace(id, GaugesOf(*record)).first;
    }
    for (const TaskGauges& task : known->second) {
      if (++pairs > kMostPairs) break;
      if (task.last_duration_s >= 0) sink.Add(kLastDuration, task.last_duration_s, {workflow, task.task});
      if (task.memory_peak_bytes >= 0) sink.Add(kMemoryPeak, task.memory_peak_bytes, {workflow, task.task});
    }
    shown[id] = known->second;
  }
  known_ = std::move(shown);
}

}  // namespace wf::app
