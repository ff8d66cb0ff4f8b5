// RunFamilies: the product's own families, and TaskMetrics, the children of one (workflow, task).
//
// Every child with a status exists at 0 from registration, since a series born at 1 has increase 0 in Prometheus.
// Gauges of what has not happened or is not measured are absent. Labels are workflow, task and status, never an id.
//
//   Result<RunFamilies*> families = DefaultRunFamilies();
//   TaskMetrics* metrics = (*families)->Task("training", "preprocess");   // once per run and task; keep it
//   const int64_t started = base::WallNs();
//   metrics->AttemptStarted(started);
//   ...
//   metrics->AttemptEnded(started);
//   metrics->ObserveAttempt(base::StatusLabel::kSuccess, wall_ns, cpu_ns);
#ifndef WF_METRICS_RUN_FAMILIES_H_
#define WF_METRICS_RUN_FAMILIES_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/states.h"
#include "metrics/fork_guard.h"
#include "metrics/registry.h"

namespace wf::metrics {

// Names without namespace and without "_total"; see QualifiedName. Rules, dashboards and tests use these.
namespace names {
inline constexpr std::string_view kDuration = "duration_seconds";
inline constexpr std::string_view kCpu = "cpu_seconds";
inline constexpr std::string_view kGpuMemory = "gpu_memory_used_bytes";
inline constexpr std::string_view kRuns = "task_runs";
inline constexpr std::string_view kRetries = "task_retries";
inline constexpr std::string_view kQueue = "task_queue_seconds";
inline constexpr std::string_view kRunning = "task_running";
inline constexpr std::string_view kStartTimestamp = "task_start_timestamp_seconds";
inline constexpr std::string_view kLastDuration = "task_last_duration_seconds";
inline constexpr std::string_view kMemoryPeak = "task_memory_peak_bytes";
inline constexpr std::string_view kLastSuccess = "workflow_last_success_timestamp_seconds";
inline constexpr std::string_view kSamples = "profiler_samples";
inline constexpr std::string_view kOverhead = "profiler_overhead_seconds";
inline constexpr std::string_view kSampleRatio = "profiler_sample_ratio";
inline constexpr std::string_view kErrors = "profiler_errors";
inline constexpr std::string_view kDropped = "metrics_labelsets_dropped";
inline constexpr std::string_view kBuildInfo = "workflow_build_info";
}  // namespace names

// The children of one (workflow, task). Owned by its RunFamilies, lives as long. Any thread may call anything.
class TaskMetrics {
 public:
  // One finished attempt, or a node taken from the cache: duration, runs, CPU and last duration in some 30 ns.
  // A negative `cpu_ns` means not measured and adds nothing.
  void ObserveAttempt(base::StatusLabel status, int64_t wall_ns, int64_t cpu_ns) noexcept;
  void ObserveQueue(int64_t ready_to_started_ns) noexcept;

  // Around each attempt: task_running, and the start of the oldest attempt still running. Both get the same wall-clock
  // start (base::WallNs()), which the caller keeps. An unmatched end is ignored.
  void AttemptStarted(int64_t start_wall_ns);
  void AttemptEnded(int64_t start_wall_ns) noexcept;

  void CountRetry() noexcept { retries_->Inc(); }
  // The peak of the attempt that ended last.
  void SetMemoryPeak(uint64_t bytes) noexcept { memory_peak_->Set(static_cast<double>(bytes)); }

  // As on the page: the cap may have replaced them by "__other__".
  const std::string& workflow() const { return workflow_; }
  const std::string& task() const { return task_; }

 private:
  friend class RunFamilies;
  void ShowRunning() noexcept;  // REQUIRES: attempts_->mutex held
  void ResetAfterFork();

  std::string workflow_;
  std::string task_;
  std::array<Histogram*, base::kStatusLabelCount> duration_{};
  std::array<Counter*, base::kStatusLabelCount> runs_{};
  Counter* cpu_ = nullptr;
  Counter* retries_ = nullptr;
  Histogram* queue_ = nullptr;
  Gauge* running_ = nullptr;
  Gauge* start_timestamp_ = nullptr;
  Gauge* last_duration_ = nullptr;
  Gauge* memory_peak_ = nullptr;
  struct Running {
    std::mutex mutex;
    std::multiset<int64_t> starts;  // of attempts that run; guarded by mutex
  };
  std::unique_ptr<Running> attempts_ = std::make_unique<Running>();
};

struct RunFamiliesOptions {
  std::string name_prefix;  // the option namespace=: "workflow" gives workflow_duration_seconds
  std::string version;      // for workflow_build_info
};

// True for the names that RunFamilies registers without a prefix, with or without "_total".
bool IsRunFamilyName(std::string_view name);

class RunFamilies final : private ForkAware {
 public:
  // Registers all families in `registry`, which must outlive the result. A clash of names comes back as a Status and
  // leaves the registry usable; the way out is another name_prefix.
  static Result<std::unique_ptr<RunFamilies>> Create(Registry* registry, RunFamiliesOptions options);

  // The children of this task, made at 0 when new; the same pointer each time.
  TaskMetrics* Task(std::string_view workflow, std::string_view task);
  // When a whole run of this workflow succeeded.
  void WorkflowSucceeded(std::string_view workflow, int64_t end_wall_ns);

  // Bytes used by our processes on one device while a task holds it: Set it, and Clear() it when the task ends.
  // `worker` is a small stable index. Lives as long as the registry.
  Gauge* GpuMemory(std::string_view gpu, std::string_view worker, std::string_view workflow, std::string_view task);

  // The profiler about itself.
  Counter& profiler_samples() { return *samples_; }
  Counter& profiler_overhead_seconds() { return *overhead_; }
  Counter& profiler_errors() { return *errors_; }
  Gauge& profiler_sample_ratio() { return *sample_ratio_; }

  const std::string& name_prefix() const { return options_.name_prefix; }
  ~RunFamilies();

 private:
  void LockBeforeFork() override { mutex_.lock(); }
  void UnlockAfterFork() override { mutex_.unlock(); }
  void ResetInChild() override;

  RunFamilies(Registry* registry, RunFamiliesOptions options) : registry_(registry), options_(std::move(options)) {}
  Status RegisterTaskFamilies();
  Status RegisterOwnFamilies();
  Status RegisterConstants();
  std::unique_ptr<TaskMetrics> MakeTask(const std::string& workflow, const std::string& task);

  Registry* const registry_;
  const RunFamiliesOptions options_;
  HistogramFamily* duration_ = nullptr;
  CounterFamily* cpu_ = nullptr;
  CounterFamily* runs_ = nullptr;
  CounterFamily* retries_ = nullptr;
  HistogramFamily* queue_ = nullptr;
  GaugeFamily* running_ = nullptr;
  GaugeFamily* start_timestamp_ = nullptr;
  GaugeFamily* last_duration_ = nullptr;
  GaugeFamily* memory_peak_ = nullptr;
  GaugeFamily* gpu_memory_ = nullptr;
  GaugeFamily* last_success_ = nullptr;
  Counter* samples_ = nullptr;
  Counter* overhead_ = nullptr;
  Counter* errors_ = nullptr;
  Gauge* sample_ratio_ = nullptr;
  uint64_t constants_ = 0;  // number of the collector; 0 when not registered

  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<TaskMetrics>> tasks_;  // guarded by mutex_
};

// The families of DefaultRegistry(), made by the first call with its options and never destroyed. A later call with
// another prefix is an InvalidArgument: both names at once would count everything twice.
Result<RunFamilies*> DefaultRunFamilies(RunFamiliesOptions options = {});
// The prefix those families have; empty before they are made.
std::string DefaultNamePrefix();

}  // namespace wf::metrics

#endif  // WF_METRICS_RUN_FAMILIES_H_
