// `wf export`: the recorded stacks of a run in another tool's format.
#ifndef WF_APP_EXPORT_H_
#define WF_APP_EXPORT_H_

#include <cstdint>
#include <string>

#include "profile/export.h"
#include "wf/status.h"

namespace wf::app {

struct ExportRequest {
  std::string store;
  std::string run;
  std::string format;  // a name of profile::ExportFormats()
  std::string output;  // empty: <run's id> with the format's suffix, in the current folder; "-": standard output
  std::string task;    // only what its attempts did; empty: all
  bool tasks = false;  // each task as the outermost frame
  profile::ExportOptions options;
};

struct Exported {
  std::string run;
  std::string path;
  uint64_t bytes = 0;
};

// Whether the output can be written is known before anything is read; it is there whole or not at all. Errors:
// kInvalidArgument (no such format or task), kNotFound (no such run; no stacks in it), those of the output.
Result<Exported> ExportStacks(const ExportRequest& request);

// The text of a Python source file for heat maps; nullopt for anything else, whatever a profile calls a source.
std::optional<std::string> ReadPythonSource(const std::string& file);

}  // namespace wf::app

#endif  // WF_APP_EXPORT_H_
