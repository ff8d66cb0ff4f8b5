#include "app/gpu_watch.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <string>

#include "app/worker_watch.h"
#include "probe/gpu.h"

namespace wf::app {
namespace {

constexpr int64_t kShortestNs = 100'000'000;  // one poll

probe::GpuPoller* Poller();

// The tasks that run, and their gauges.
class GpuTasks {
 public:
  void Start(metrics::RunFamilies* families, const GpuTask& task) {
    const std::lock_guard lock(mutex_);
    Shown& shown = tasks_[task];
    shown.families = families;
    ++shown.attempts;
  }

  void End(const GpuTask& task) {
    const std::lock_guard lock(mutex_);
    const auto at = tasks_.find(task);
    if (at == tasks_.end() || --at->second.attempts > 0) return;
    for (const auto& [device, gauge] : at->second.gauges) gauge->Clear();
    tasks_.erase(at);
  }

  void Update(probe::GpuPoller* poller) {
    const std::lock_guard lock(mutex_);
    for (auto& [task, shown] : tasks_) Show(poller, task, &shown);
  }

 private:
  struct Shown {
    metrics::RunFamilies* families = nullptr;
    int attempts = 0;
    std::map<int, metrics::Gauge*> gauges;  // by device
  };

  static void Show(probe::GpuPoller* poller, const GpuTask& task, Shown* shown) {
    for (const auto& [device, gauge] : shown->gauges) gauge->Clear();
    for (const probe::GpuUse& use : poller->NowOf(task.worker_pid == 0 ? getpid() : task.worker_pid)) {
      metrics::Gauge*& gauge = shown->gauges[use.device];
      if (gauge == nullptr) {
        // As in process_*: a small number for a worker process, empty for this one.
        const std::string worker = task.worker_pid == 0 ? "" : std::to_string(WorkerNumber(task.worker_pid));
        gauge = shown->families->GpuMemory(std::to_string(use.device), worker, task.workflow, task.task);
      }
      gauge->Set(static_cast<double>(use.used_bytes.value));
    }
  }

  std::mutex mutex_;  // guards the rest
  std::map<GpuTask, Shown> tasks_;
};

GpuTasks& TheTasks() {
  static GpuTasks& tasks = *new GpuTasks;  // leaked on purpose, as the poller
  return tasks;
}

probe::GpuPoller* Poller() {
  // Leaked on purpose: its thread may still poll while static objects are destroyed.
  static probe::GpuPoller* const poller = []() -> probe::GpuPoller* {
    probe::GpuPollerOptions options;
    options.on_poll = [] { TheTasks().Update(Poller()); };
    auto started = probe::GpuPoller::Start(options);
    return started.ok() ? std::move(*started).release() : nullptr;
  }();
  return poller;
}

}  // namespace

bool GpuIsWatched() { return Poller() != nullptr; }

void GpuTaskStarted(metrics::RunFamilies* families, const GpuTask& task) {
  if (GpuIsWatched()) TheTasks().Start(families, task);
}

void GpuTaskEnded(const GpuTask& task) {
  if (GpuIsWatched()) TheTasks().End(task);
}

void StartGpuWatch() { (void)Poller(); }

void WatchPid(int32_t pid) {
  if (probe::GpuPoller* const poller = Poller()) poller->AddPid(pid);
}

void UnwatchPid(int32_t pid) {
  if (probe::GpuPoller* const poller = Poller()) poller->RemovePid(pid);
}

void FillGpu(int64_t start_ns, int64_t end_ns, profile::Usage* usage) {
  if (end_ns - start_ns < kShortestNs) return;
  if (probe::GpuPoller* const poller = Poller()) usage->gpu_memory_bytes = poller->PeakSince(start_ns);
}

}  // namespace wf::app
