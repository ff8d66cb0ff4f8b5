// KeptOutput: what a program that we started would write to the terminal while we draw on it. It is kept in a file
// without a name, in its order, and shown afterwards; streams that are not the terminal are left to the program.
//
// Threading: one thread. The file goes with the last process that has it open.
#ifndef WF_APP_KEPT_OUTPUT_H_
#define WF_APP_KEPT_OUTPUT_H_

#include <cstdint>

#include "app/launched_program.h"
#include "base/fd.h"
#include "wf/status.h"

namespace wf::app {

class KeptOutput {
 public:
  // For a program that is about to be started. kIo when there is no room for the file.
  static Result<KeptOutput> Open();

  // Good as long as this is.
  ProgramStreams streams() const { return streams_; }
  // Writes what came since the last call to our standard output. False when nobody reads that any more.
  bool ShowNew();

 private:
  KeptOutput() = default;

  base::Fd file_;
  base::Fd nothing_;  // /dev/null
  ProgramStreams streams_;
  int64_t shown_ = 0;  // bytes
};

}  // namespace wf::app

#endif  // WF_APP_KEPT_OUTPUT_H_
