// What a Python has installed, asked from that Python itself.
#ifndef WF_APP_PYTHON_PACKAGES_H_
#define WF_APP_PYTHON_PACKAGES_H_

#include <filesystem>
#include <map>
#include <string>

#include "wf/status.h"

namespace wf::app {

struct PythonFacts {
  std::string version;                          // "3.11.7"
  std::string workflow_version;                 // of `import workflow`; empty when that fails
  std::string workflow_error;                   // why
  std::map<std::string, std::string> packages;  // name -> version of those we work with that are installed
};

// Runs `python` with a small script, for at most 30 seconds. kUnavailable when it does not answer.
Result<PythonFacts> AskPython(const std::filesystem::path& python);

}  // namespace wf::app

#endif  // WF_APP_PYTHON_PACKAGES_H_
