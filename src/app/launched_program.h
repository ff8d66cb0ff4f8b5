// LaunchedProgram: a program that we started as a shell would have: same terminal, streams, process group and signals.
// It is never ended by us, whatever becomes of us.
#ifndef WF_APP_LAUNCHED_PROGRAM_H_
#define WF_APP_LAUNCHED_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "app/stop_signals.h"
#include "wf/status.h"

namespace wf::app {

class LaunchedProgram {
 public:
  // Errors: kNotFound; kPermissionDenied when it may not be executed or is no program; kIo when the system has no room.
  // REQUIRES: `command` has a first word. `signals` must outlive it.
  static Result<LaunchedProgram> Start(const std::vector<std::string>& command, StopSignals& signals);

  int32_t pid() const { return pid_; }
  // Until it ended. Its exit code, or 128 + the number of the signal that ended it.
  int Wait();

 private:
  LaunchedProgram(int32_t pid, StopSignals* signals) : pid_(pid), signals_(signals) {}

  int32_t pid_;
  StopSignals* signals_;
};

}  // namespace wf::app

#endif  // WF_APP_LAUNCHED_PROGRAM_H_
