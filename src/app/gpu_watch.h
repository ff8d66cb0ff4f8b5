// The one GPU poller of this process; without a GPU it costs nothing but one look for the library.
#ifndef WF_APP_GPU_WATCH_H_
#define WF_APP_GPU_WATCH_H_

#include <compare>
#include <cstdint>
#include <string>

#include "metrics/run_families.h"
#include "profile/model.h"

namespace wf::app {

// A task that runs, for the gauge gpu_memory_used_bytes. Its series are there while it runs and its process holds
// memory of a GPU, as of the last poll.
struct GpuTask {
  int32_t worker_pid = 0;  // 0: it runs in this process
  std::string workflow;
  std::string task;
  auto operator<=>(const GpuTask&) const = default;
};
// Without a GPU both do nothing. Thread-safe; each Started has one Ended.
bool GpuIsWatched();
void GpuTaskStarted(metrics::RunFamilies* families, const GpuTask& task);
void GpuTaskEnded(const GpuTask& task);

// Starts polling; does nothing when it runs already or there is no GPU.
void StartGpuWatch();
// The GPU memory of this worker process is ours too.
void WatchPid(int32_t pid);
void UnwatchPid(int32_t pid);

// Adds the highest GPU memory that our processes held in the given time; leaves it absent when there is no GPU, none
// was used, or the time is below one poll. Thread-safe.
void FillGpu(int64_t start_ns, int64_t end_ns, profile::Usage* usage);

}  // namespace wf::app

#endif  // WF_APP_GPU_WATCH_H_
