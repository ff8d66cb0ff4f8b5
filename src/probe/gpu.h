// GPU memory held by our processes, through NVML opened at run time. That there is no NVML, or no GPU, is normal: Open
// then returns kUnavailable with the reason, and every GPU figure stays absent.
//
// A call into NVML can take milliseconds, so only the poller's own thread makes them; attempts ask for the highest
// value polled since they began.
#ifndef WF_PROBE_GPU_H_
#define WF_PROBE_GPU_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wf/status.h"

namespace wf::probe {

// What one device says. An absent field is one that the device answers with "not supported", as MIG slices do.
struct GpuDevice {
  int index = 0;
  std::string name;
  std::optional<int64_t> total_bytes;
  std::optional<int64_t> used_bytes;  // by everybody, driver included
};

struct GpuProcess {
  int device = 0;
  int32_t pid = 0;                    // as NVML says: of the initial PID namespace
  std::optional<int64_t> used_bytes;  // absent: N/A
};

// One NVML library, initialised; shut down by the destructor. Calls may come from any thread, one at a time.
class Nvml {
 public:
  // `library` is for tests; empty: libnvidia-ml.so.1.
  static Result<std::unique_ptr<Nvml>> Open(const std::string& library = "");
  virtual ~Nvml() = default;

  virtual std::string DriverVersion() = 0;  // empty: not told
  virtual std::vector<GpuDevice> Devices() = 0;
  // Compute processes on all devices, each (device, pid) once.
  virtual std::vector<GpuProcess> Processes() = 0;
};

// The polled sums of one device for our processes.
struct GpuUse {
  int device = 0;
  int64_t used_bytes = 0;
};

// Polls every 100 ms from one thread of its own (a registered service thread) while it lives.
class GpuPoller {
 public:
  // REQUIRES: nvml. `nvml` is owned. Starts the thread.
  static std::unique_ptr<GpuPoller> Start(std::unique_ptr<Nvml> nvml, int64_t interval_ns = 100'000'000);
  virtual ~GpuPoller() = default;

  // The processes whose memory is ours: this process from the start; add workers, remove them when they end.
  virtual void AddPid(int32_t pid) = 0;
  virtual void RemovePid(int32_t pid) = 0;
  // Highest sum over all devices of what our processes held in polls since `start_ns` (CLOCK_MONOTONIC), which may
  // include the poll just before it. nullopt: never polled since, or no process of ours was seen on any device with a
  // known figure: absent, not zero.
  virtual std::optional<int64_t> PeakSince(int64_t start_ns) = 0;
  // As of the last poll, one entry per device that our processes use.
  virtual std::vector<GpuUse> Now() = 0;
};

}  // namespace wf::probe

#endif  // WF_PROBE_GPU_H_
