// `wf record`: samples a process, or a program that it starts, and writes the stacks to a file.
#ifndef WF_APP_RECORD_H_
#define WF_APP_RECORD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/launched_program.h"
#include "app/record_session.h"
#include "profile/export.h"
#include "wf/status.h"

namespace wf::app {

struct RecordRequest {
  int32_t pid = 0;                   // 0: `command` is launched
  std::vector<std::string> command;  // program and arguments
  RecordOptions options;
  std::string format;  // a name of profile::ExportFormats(), or kStoreFormat
  std::string output;  // empty: name of the program and time, with the format's suffix; "-": standard output
  std::string store;   // kStoreFormat: the store's folder; empty: the usual one
  profile::ExportOptions shown;
  bool tasks = false;    // each task of Workflow that was met as the outermost frame
  int64_t flush_ns = 0;  // how often a file is written while the recording goes on; 0: only on SIGUSR1
};

// Not a file: a run in the store, to be exported as often as wanted. Idle time is always in, and left out by export.
inline constexpr std::string_view kStoreFormat = "store";

// Returns when the file is written and a launched program ended. `say` gets one line at a time, for standard error: all
// that there is to tell, errors of a launch included. The result is the exit code: of a launched program its own.
// Errors, all before anything was sampled and never after a program was launched: kInvalidArgument, those of the output
// and of sampler::Target::Attach; with `pid` also kIo when the file could not be written.
Result<int> Record(const RecordRequest& request, const std::function<void(const std::string&)>& say);

}  // namespace wf::app

#endif  // WF_APP_RECORD_H_
