// ProcessWatch: one process from now to its end, whatever it executes meanwhile.
//
// Attaches when there is an interpreter to read, and again after the process executed another program. Looking for an
// interpreter costs milliseconds, so it is tried less and less often while there is none.
//
// Threading: one thread at a time.
#ifndef WF_SAMPLER_PROCESS_WATCH_H_
#define WF_SAMPLER_PROCESS_WATCH_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "sampler/native_target.h"
#include "sampler/target.h"
#include "wf/status.h"

namespace wf::sampler {

class ProcessWatch {
 public:
  enum class Look { kSeen, kNoPython, kEnded };

  // `options`: of the targets that it attaches to; of threads' states only their activity is asked. `native`: the
  // native frames too, for which the process is stopped for a moment at each reading.
  explicit ProcessWatch(int32_t pid, const TargetOptions& options = {}, bool native = false);

  // Now, whenever it was last tried. The errors of Target::Attach.
  Status Attach();
  // The end of a process that was no Python may be told a tenth of a second late. REQUIRES: the time does not go back.
  Look Read(int64_t time_ns, Snapshot* snapshot);
  // Also true when its number belongs to another process by now.
  bool HasEnded() const;

  int32_t pid() const { return pid_; }
  // Why there is nothing to read; OK while there is.
  const Status& why_not() const { return why_not_; }
  // Of all readings.
  const StopCount& stopped() const { return stopped_; }
  // Why the last reading has no native frames; OK while it has, or none are wanted.
  Status why_no_native() const { return native_ == nullptr ? Status() : native_->pause(); }

 private:
  const int32_t pid_;
  TargetOptions options_;
  const std::optional<int64_t> start_ticks_;
  const bool wants_native_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<NativeTarget> native_;  // of target_
  StopCount stopped_;
  Status why_not_;
  int64_t next_try_ns_ = 0;
  int64_t pause_ns_ = 0;
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_PROCESS_WATCH_H_
