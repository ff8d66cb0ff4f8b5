#include "metrics/run_families.h"

#include <fmt/format.h>

#include <algorithm>

namespace wf::metrics {
namespace {

constexpr double kSecondsPerNs = 1e-9;

double Seconds(int64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }
size_t Index(base::StatusLabel status) { return static_cast<size_t>(status); }

// Stores the family of a Result, or hands back its Status.
template <class FamilyType>
Status Into(FamilyType** out, Result<FamilyType*> family) {
  if (!family.ok()) return family.status();
  *out = *family;
  return Status();
}

}  // namespace

void TaskMetrics::ObserveAttempt(base::StatusLabel status, int64_t wall_ns, int64_t cpu_ns) noexcept {
  const double wall = Seconds(wall_ns);
  duration_[Index(status)]->Observe(wall);
  runs_[Index(status)]->Inc();
  last_duration_->Set(wall);
  if (cpu_ns > 0) cpu_->Add(Seconds(cpu_ns));
}

void TaskMetrics::ObserveQueue(int64_t ready_to_started_ns) noexcept {
  queue_->Observe(Seconds(std::max<int64_t>(ready_to_started_ns, 0)));
}

void TaskMetrics::AttemptStarted(int64_t start_wall_ns) {
  const std::lock_guard guard(attempts_->mutex);
  attempts_->starts.insert(start_wall_ns);
  ShowRunning();
}

void TaskMetrics::AttemptEnded(int64_t start_wall_ns) noexcept {
  const std::lock_guard guard(attempts_->mutex);
  const auto found = attempts_->starts.find(start_wall_ns);
  if (found == attempts_->starts.end()) return;
  attempts_->starts.erase(found);
  ShowRunning();
}

void TaskMetrics::ShowRunning() noexcept {
  running_->Set(static_cast<double>(attempts_->starts.size()));
  if (attempts_->starts.empty()) {
    start_timestamp_->Clear();  // a 0 would read as "running since 1970"
  } else {
    start_timestamp_->Set(Seconds(*attempts_->starts.begin()));
  }
}

void TaskMetrics::ResetAfterFork() {
  // The list belongs to threads that are not here, and may have been copied half changed: leave it behind.
  static_cast<void>(attempts_.release());
  attempts_ = std::make_unique<Running>();
  ShowRunning();
}

bool IsRunFamilyName(std::string_view name) {
  constexpr std::array kAll = {names::kDuration,     names::kCpu,         names::kGpuMemory,   names::kRuns,
                               names::kRetries,      names::kQueue,       names::kRunning,     names::kStartTimestamp,
                               names::kLastDuration, names::kMemoryPeak,  names::kLastSuccess, names::kSamples,
                               names::kOverhead,     names::kSampleRatio, names::kErrors,      names::kDropped,
                               names::kBuildInfo};
  if (name.ends_with("_total")) name.remove_suffix(6);
  return std::find(kAll.begin(), kAll.end(), name) != kAll.end();
}

Result<std::unique_ptr<RunFamilies>> RunFamilies::Create(Registry* registry, RunFamiliesOptions options) {
  std::unique_ptr<RunFamilies> families(new RunFamilies(registry, std::move(options)));
  WF_RETURN_IF_ERROR(families->RegisterTaskFamilies());
  WF_RETURN_IF_ERROR(families->RegisterOwnFamilies());
  WF_RETURN_IF_ERROR(families->RegisterConstants());
  ForkGuard::Watch(families.get());
  return families;
}

void RunFamilies::ResetInChild() {
  for (auto& [pair, metrics] : tasks_) metrics->ResetAfterFork();
}

RunFamilies::~RunFamilies() {
  ForkGuard::Forget(this);
  if (constants_ != 0) registry_->RemoveCollector(constants_);
}

Status RunFamilies::RegisterTaskFamilies() {
  const auto name = [this](std::string_view base) { return QualifiedName(options_.name_prefix, base); };
  const std::vector<std::string> task = {"workflow", "task"};
  const std::vector<std::string> status = {"workflow", "task", "status"};
  Registry& to = *registry_;
  WF_RETURN_IF_ERROR(Into(&duration_, to.AddHistogram(name(names::kDuration),
                                                      "Wall time of task attempts by outcome, in seconds.", status)));
  WF_RETURN_IF_ERROR(Into(&cpu_, to.AddCounter(name(names::kCpu), "CPU time of task attempts, in seconds.", task)));
  WF_RETURN_IF_ERROR(Into(&runs_, to.AddCounter(name(names::kRuns), "Task attempts that ended, by outcome.", status)));
  WF_RETURN_IF_ERROR(Into(&retries_, to.AddCounter(name(names::kRetries), "Attempts that were retries.", task)));
  WF_RETURN_IF_ERROR(Into(
      &queue_, to.AddHistogram(name(names::kQueue), "Time from ready to started of task attempts, in seconds.", task)));
  WF_RETURN_IF_ERROR(Into(&running_, to.AddGauge(name(names::kRunning), "Attempts running now.", task)));
  WF_RETURN_IF_ERROR(
      Into(&start_timestamp_,
           to.AddGauge(name(names::kStartTimestamp),
                       "Start of the oldest running attempt, Unix time in seconds; absent when idle.", task)));
  WF_RETURN_IF_ERROR(Into(&last_duration_, to.AddGauge(name(names::kLastDuration),
                                                       "Wall time of the last attempt that ended, in seconds.", task)));
  WF_RETURN_IF_ERROR(Into(&memory_peak_, to.AddGauge(name(names::kMemoryPeak),
                                                     "Peak memory of the last attempt that ended, in bytes.", task)));
  WF_RETURN_IF_ERROR(Into(&gpu_memory_, to.AddGauge(name(names::kGpuMemory),
                                                    "GPU memory used by our processes while a task holds the device.",
                                                    {"gpu", "worker", "workflow", "task"})));
  return Into(&last_success_,
              to.AddGauge(name(names::kLastSuccess), "When a run of the workflow last succeeded, Unix time in seconds.",
                          {"workflow"}));
}

Status RunFamilies::RegisterOwnFamilies() {
  const auto name = [this](std::string_view base) { return QualifiedName(options_.name_prefix, base); };
  CounterFamily* samples = nullptr;
  CounterFamily* overhead = nullptr;
  CounterFamily* errors = nullptr;
  GaugeFamily* ratio = nullptr;
  Registry& to = *registry_;
  WF_RETURN_IF_ERROR(Into(&samples, to.AddCounter(name(names::kSamples), "Samples taken by the profiler.")));
  WF_RETURN_IF_ERROR(Into(&overhead, to.AddCounter(name(names::kOverhead), "CPU time the profiler used, in seconds.")));
  WF_RETURN_IF_ERROR(
      Into(&errors, to.AddCounter(name(names::kErrors), "Faults of the profiler; no task failed of them.")));
  WF_RETURN_IF_ERROR(Into(&ratio, to.AddGauge(name(names::kSampleRatio),
                                              "Share of attempts with all probes on, 0 to 1; absent when unknown.")));
  samples_ = &samples->At({});
  overhead_ = &overhead->At({});
  errors_ = &errors->At({});
  sample_ratio_ = &ratio->At({});
  if (!sample_ratio_->present() || sample_ratio_->Value() == 0) sample_ratio_->Clear();
  return Status();
}

Status RunFamilies::RegisterConstants() {
  const FamilySpec dropped{Type::kCounter,
                           QualifiedName(options_.name_prefix, names::kDropped),
                           "Look-ups of label sets over the limit, counted under __other__.",
                           {}};
  const FamilySpec build{Type::kGauge,
                         QualifiedName(options_.name_prefix, names::kBuildInfo),
                         "Version of Workflow; the value is always 1.",
                         {"version"}};
  Registry* const registry = registry_;
  Result<uint64_t> number =
      registry_->AddCollector({dropped, build}, [registry, version = options_.version](CollectorSink& sink) {
        sink.Add(0, registry->dropped_label_sets());
        sink.Add(1, 1, {version});
      });
  if (!number.ok()) return number.status();
  constants_ = *number;
  return Status();
}

std::unique_ptr<TaskMetrics> RunFamilies::MakeTask(const std::string& workflow, const std::string& task) {
  auto metrics = std::make_unique<TaskMetrics>();
  metrics->workflow_ = workflow;
  metrics->task_ = task;
  for (int i = 0; i < base::kStatusLabelCount; ++i) {
    const std::string_view status = base::Name(static_cast<base::StatusLabel>(i));
    metrics->duration_[static_cast<size_t>(i)] = &duration_->At({workflow, task, status});
    metrics->runs_[static_cast<size_t>(i)] = &runs_->At({workflow, task, status});
  }
  metrics->cpu_ = &cpu_->At({workflow, task});
  metrics->retries_ = &retries_->At({workflow, task});
  metrics->queue_ = &queue_->At({workflow, task});
  metrics->running_ = &running_->At({workflow, task});
  metrics->start_timestamp_ = &start_timestamp_->At({workflow, task});
  metrics->last_duration_ = &last_duration_->At({workflow, task});
  metrics->memory_peak_ = &memory_peak_->At({workflow, task});
  metrics->start_timestamp_->Clear();
  metrics->last_duration_->Clear();
  metrics->memory_peak_->Clear();
  return metrics;
}

TaskMetrics* RunFamilies::Task(std::string_view workflow, std::string_view task) {
  auto pair = registry_->task_cap().AdmitTask(workflow, task);
  const std::lock_guard guard(mutex_);
  auto& slot = tasks_[pair];
  if (slot == nullptr) slot = MakeTask(pair.first, pair.second);
  return slot.get();
}

void RunFamilies::WorkflowSucceeded(std::string_view workflow, int64_t end_wall_ns) {
  last_success_->At({registry_->task_cap().AdmitWorkflow(workflow)}).Set(Seconds(end_wall_ns));
}

Gauge* RunFamilies::GpuMemory(std::string_view gpu, std::string_view worker, std::string_view workflow,
                              std::string_view task) {
  const auto [capped_workflow, capped_task] = registry_->task_cap().AdmitTask(workflow, task);
  return &gpu_memory_->At({gpu, worker, capped_workflow, capped_task});
}

namespace {

struct Default {
  std::mutex mutex;
  RunFamilies* families = nullptr;  // guarded by mutex; never destroyed
};

Default& TheDefault() {
  static Default* const instance = new Default();
  return *instance;
}

}  // namespace

Result<RunFamilies*> DefaultRunFamilies(RunFamiliesOptions options) {
  Default& instance = TheDefault();
  const std::lock_guard guard(instance.mutex);
  if (instance.families != nullptr) {
    if (instance.families->name_prefix() == options.name_prefix) return instance.families;
    return Status(
        Code::kInvalidArgument,
        fmt::format("metrics namespace \"{}\" cannot be set: this process already counts with namespace \"{}\"; "
                    "set it once, before the first task",
                    options.name_prefix, instance.families->name_prefix()));
  }
  Result<std::unique_ptr<RunFamilies>> made = RunFamilies::Create(&DefaultRegistry(), std::move(options));
  if (!made.ok()) return made.status();
  instance.families = std::move(made).value().release();
  return instance.families;
}

std::string DefaultNamePrefix() {
  Default& instance = TheDefault();
  const std::lock_guard guard(instance.mutex);
  return instance.families == nullptr ? "" : instance.families->name_prefix();
}

}  // namespace wf::metrics
