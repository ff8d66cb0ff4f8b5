// SamplerProcess: the process beside a run that samples its stacks, seen from the run's owner.
//
//   auto sampler = SamplerProcess::Start({.program = "/usr/bin/wf", .run = id, .store = folder, .rate_hz = 100});
//   sampler->Watch(worker_pid, 2);        // another process of the run
//   Status status = sampler->Stop();      // it writes what it has and ends; why stacks are missing, if they are
//
// It runs `wf` itself (sample_run.h), is no child of ours, so that a program that waits for its children does not see
// it, and stands in a session of its own, so that Ctrl-C does not reach it. It ends when it is stopped, when the owner
// has ended, however that came, or with its last watched process.
//
// Threading: any thread. After fork the child must not use it; it may destroy it.
#ifndef WF_APP_SAMPLER_PROCESS_H_
#define WF_APP_SAMPLER_PROCESS_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "app/sample_run.h"
#include "base/fd.h"
#include "wf/status.h"

namespace wf::app {

class SamplerProcess {
 public:
  // Waits until it is there (some milliseconds), and lets it read this process where the system asks for that.
  // `program`: the file of `wf`. Errors: kNotFound, kFailedPrecondition (another version of it), kIo.
  static Result<std::unique_ptr<SamplerProcess>> Start(const std::string& program, const SampleRunOptions& options);
  ~SamplerProcess();
  SamplerProcess(const SamplerProcess&) = delete;
  SamplerProcess& operator=(const SamplerProcess&) = delete;

  int32_t pid() const { return pid_; }
  // From now on that process is sampled too. `process`: its number in the run. Does not wait.
  void Watch(int32_t pid, uint32_t process);
  // Once; later calls answer OK. Waits some seconds at most, then ends it by force.
  Status Stop();

 private:
  SamplerProcess(base::Fd channel, base::Fd handle, int32_t pid);
  void ReapWhereItIsOurs() const;

  const int32_t owner_;
  const int32_t pid_;
  std::mutex mutex_;  // guards the rest
  base::Fd channel_;
  base::Fd handle_;  // a pidfd
};

// Says that process `tracer` may read the calling one, where Yama asks for that; elsewhere nothing happens.
void AllowTracer(int32_t tracer);

}  // namespace wf::app

#endif  // WF_APP_SAMPLER_PROCESS_H_
