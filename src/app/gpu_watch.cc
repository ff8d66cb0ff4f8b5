#include "app/gpu_watch.h"

#include "probe/gpu.h"

namespace wf::app {
namespace {

constexpr int64_t kShortestNs = 100'000'000;  // one poll

probe::GpuPoller* Poller() {
  // Leaked on purpose: its thread may still poll while static objects are destroyed.
  static probe::GpuPoller* const poller = []() -> probe::GpuPoller* {
    auto started = probe::GpuPoller::Start();
    return started.ok() ? std::move(*started).release() : nullptr;
  }();
  return poller;
}

}  // namespace

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
