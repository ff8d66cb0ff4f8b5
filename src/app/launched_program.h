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

// Exit codes of what launches a program, as env(1) and timeout(1) have them; the program's own otherwise.
enum LaunchExit : int { kOwnFailure = 125, kCannotExecute = 126, kNoSuchProgram = 127 };
// For the error of LaunchedProgram::Start.
LaunchExit ExitOfStart(const Status& error);

// Descriptors that the program gets as its standard streams; -1: ours.
struct ProgramStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

class LaunchedProgram {
 public:
  // Errors: kNotFound; kPermissionDenied when it may not be executed or is no program; kIo when the system has no room.
  // REQUIRES: `command` has a first word. `signals` must outlive it.
  static Result<LaunchedProgram> Start(const std::vector<std::string>& command, StopSignals& signals,
                                       const ProgramStreams& streams = {});

  int32_t pid() const { return pid_; }
  bool HasEnded() const;
  // Until it ended. Its exit code, or 128 + the number of the signal that ended it.
  int Wait();

 private:
  LaunchedProgram(int32_t pid, StopSignals* signals) : pid_(pid), signals_(signals) {}

  int32_t pid_;
  StopSignals* signals_;
};

}  // namespace wf::app

#endif  // WF_APP_LAUNCHED_PROGRAM_H_
