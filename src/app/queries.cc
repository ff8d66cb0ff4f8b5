#include "app/queries.h"

#include <fmt/format.h>

#include <memory>

#include "analysis/bottleneck.h"
#include "analysis/diff.h"
#include "analysis/hot_spots.h"
#include "analysis/summary.h"
#include "app/absent_reasons.h"
#include "base/clock.h"
#include "base/states.h"
#include "store/store.h"

namespace wf::app {
namespace {

Result<std::unique_ptr<store::Store>> OpenForReading(const std::string& folder) {
  return store::Store::Open(store::Locate(folder), store::Access::kRead);
}

Result<profile::RunRecord> Load(store::Store& store, const std::string& run) {
  const Result<base::RunId> id = store.Resolve(run);
  if (!id.ok()) return id.status();
  return store.Load(*id);
}

Result<std::optional<profile::Stream>> ParseStream(const std::string& name) {
  if (name.empty()) return std::optional<profile::Stream>();
  if (name == "stdout") return std::optional(profile::Stream::kStdout);
  if (name == "stderr") return std::optional(profile::Stream::kStderr);
  if (name == "log") return std::optional(profile::Stream::kLog);
  return Status(Code::kInvalidArgument, fmt::format("'{}' is no stream; there are stdout, stderr and log", name));
}

Status CheckTask(const profile::RunRecord& record, const std::string& task) {
  if (task.empty()) return Status();
  std::string names;
  for (const profile::Task& known : record.tasks) {
    if (known.name == task) return Status();
    names += (names.empty() ? "" : ", ") + known.name;
  }
  return Status(Code::kInvalidArgument, fmt::format("no task of run {} is called '{}'; there are: {}",
                                                    record.run.id.ToString(), task, names.empty() ? "none" : names));
}

}  // namespace

Result<RunList> ListRuns(const ListRunsRequest& request) {
  store::RunFilter filter;
  filter.workflow = request.workflow;
  filter.limit = request.limit;
  if (request.newer_than_ns > 0) filter.since_wall_ns = base::WallNs() - request.newer_than_ns;
  if (!request.state.empty()) {
    filter.state = base::ParseRunState(request.state);
    if (!filter.state) return Status(Code::kInvalidArgument, fmt::format("'{}' is no state of a run", request.state));
  }
  Result<std::unique_ptr<store::Store>> store = OpenForReading(request.store);
  if (!store.ok()) return store.status();
  Result<std::vector<store::RunSummary>> summaries = (*store)->ListRuns(filter);
  if (!summaries.ok()) return summaries.status();
  RunList list;
  list.folder = (*store)->folder().string();
  for (store::RunSummary& summary : *summaries) {
    list.runs.push_back({std::move(summary.run), summary.nodes, summary.failed_nodes, summary.wall_ns});
  }
  return list;
}

Result<profile::RunRecord> LoadRun(const std::string& store_folder, const std::string& run) {
  Result<std::unique_ptr<store::Store>> store = OpenForReading(store_folder);
  if (!store.ok()) return store.status();
  return Load(**store, run);
}

report::RunReport ReportOn(const profile::RunRecord& record) {
  report::RunReport report;
  report.run = record.run;
  report.summary = analysis::Summarize(record);
  const MachineOfRun machine = FindMachineOfRun(record);
  report.verdict = analysis::FindBottleneck(report.summary, {.usable_cpus_milli = record.run.usable_cpus_milli,
                                                             .memory_limit_bytes = machine.memory_limit_bytes});
  report.absent = ReasonsFor(analysis::AbsentFigures(report.summary), report.summary, record.run, machine);
  return report;
}

namespace {

// Lines of a task that a report keeps; the terminal shows fewer.
constexpr size_t kMostSpots = 20;

std::string WhyNoStacks(const profile::RunRecord& record, const profile::StackMeta* meta) {
  if (meta != nullptr && !meta->rejected.empty()) return meta->rejected.begin()->first;
  if (record.run.mode == "off") return "the run was made with mode off";
  if (meta != nullptr) return "every attempt was too short for the rate of samples (--stack-rate)";
  return "wf run records them, unless --stack-rate 0; elsewhere run(stack_rate=100) or WF_STACK_RATE does";
}

}  // namespace

Result<report::RunReport> Report(const std::string& store_folder, const std::string& run) {
  Result<std::unique_ptr<store::Store>> store = OpenForReading(store_folder);
  if (!store.ok()) return store.status();
  const Result<profile::RunRecord> record = Load(**store, run);
  if (!record.ok()) return record.status();
  report::RunReport report = ReportOn(*record);
  const Result<profile::StackProfile> stacks = (*store)->Stacks(record->run.id);
  if (stacks.ok()) report.hot = analysis::FindHotSpots(*stacks, *record, kMostSpots);
  if (!report.hot || report.hot->tasks.empty()) {
    const bool is_damaged = !stacks.ok() && stacks.status().code() != Code::kNotFound;
    report.absent.push_back({"stacks", is_damaged ? stacks.status().message()
                                                  : WhyNoStacks(*record, stacks.ok() ? &stacks->meta : nullptr)});
  }
  return report;
}

Result<report::RunDiff> Diff(const std::string& store_folder, const std::string& before, const std::string& after) {
  Result<std::unique_ptr<store::Store>> store = OpenForReading(store_folder);
  if (!store.ok()) return store.status();
  const Result<profile::RunRecord> a = Load(**store, before);
  if (!a.ok()) return a.status();
  const Result<profile::RunRecord> b = Load(**store, after);
  if (!b.ok()) return b.status();
  return report::RunDiff{a->run, b->run, analysis::Compare(analysis::Summarize(*a), analysis::Summarize(*b))};
}

Result<report::RunLogs> Logs(const LogsRequest& request) {
  const Result<std::optional<profile::Stream>> stream = ParseStream(request.stream);
  if (!stream.ok()) return stream.status();
  Result<std::unique_ptr<store::Store>> store = OpenForReading(request.store);
  if (!store.ok()) return store.status();
  Result<profile::RunRecord> record = Load(**store, request.run);
  if (!record.ok()) return record.status();
  WF_RETURN_IF_ERROR(CheckTask(*record, request.task));
  Result<std::vector<profile::LogLine>> lines =
      (*store)->Logs(record->run.id, {.task = request.task, .node = request.node, .stream = *stream});
  if (!lines.ok()) return lines.status();
  return report::RunLogs{std::move(*record), std::move(*lines)};
}

}  // namespace wf::app
