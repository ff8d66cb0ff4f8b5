// GPU memory held by our processes, through NVML opened at run time. That there is no NVML, or no GPU, is normal: Open
// and Start then return kUnavailable with the reason, and every GPU figure stays absent.
//
// A call into NVML can take milliseconds, so only the poller's own thread makes them; attempts ask for the highest
// value polled since they began.
#ifndef WF_PROBE_GPU_H_
#define WF_PROBE_GPU_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profile/model.h"
#include "wf/status.h"

namespace wf::probe {

// What one device says. An absent field is one that the device answers with "not supported", as MIG slices do.
struct GpuDevice {
  int index = 0;
  std::string name;
  std::optional<int64_t> total_bytes;
  std::optional<int64_t> used_bytes;  // by everybody; without the driver's own reserve where the driver tells it
};

struct GpuProcess {
  int device = 0;
  int32_t pid = 0;                    // as NVML says: mostly of the initial PID namespace
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

// What our processes hold on one device.
struct GpuUse {
  int device = 0;
  profile::Figure used_bytes;
};

struct GpuPollerOptions {
  std::string library;  // as in Nvml::Open
  int64_t interval_ns = 100'000'000;
  std::string proc_root;  // prepended to /proc, for tests
  // Called after each poll, by the poller's thread, which holds no lock then: Now and NowOf may be called in it.
  std::function<void()> on_poll = nullptr;
};

// Polls from one thread of its own (a registered service thread) while it lives. In a forked child it answers "absent".
//
// Whose memory: a process is ours when NVML's pid is one of ours, or belongs to one of ours in an outer PID namespace
// (NSpid). Inside a container NVML may name only pids that we cannot resolve; then the growth of the whole device since
// the poller started stands in, and is called estimated.
class GpuPoller {
 public:
  // kUnavailable: no NVML, no device.
  static Result<std::unique_ptr<GpuPoller>> Start(const GpuPollerOptions& options = {});
  virtual ~GpuPoller() = default;

  // The processes whose memory is ours: this process from the start; add workers, remove them when they end.
  virtual void AddPid(int32_t pid) = 0;
  virtual void RemovePid(int32_t pid) = 0;
  // Highest sum over all devices of what our processes held since `start_ns` (CLOCK_MONOTONIC): of the polls since
  // then, or of the last poll when none has happened since. Estimated when that is less than three polls. Absent, not
  // 0, when no process of ours was seen on a device. It cannot know of overlapping attempts: their caller says kShared.
  virtual profile::Figure PeakSince(int64_t start_ns) = 0;
  // As of the last poll, one entry per device that our processes use.
  virtual std::vector<GpuUse> Now() = 0;
  // The part of Now that the process `pid` holds. An estimate of whole devices counts as this process's.
  virtual std::vector<GpuUse> NowOf(int32_t pid) = 0;
  virtual std::vector<GpuDevice> Devices() const = 0;  // as they were at the start
};

}  // namespace wf::probe

#endif  // WF_PROBE_GPU_H_
