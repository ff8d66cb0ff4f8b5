// Which Python runs the user's workflow.
//
// `wf` is a native program that comes with a Python package; a workflow must run in the environment in which that
// package is installed, not in whatever `python3` happens to come first.
#ifndef WF_APP_PYTHON_ENVIRONMENT_H_
#define WF_APP_PYTHON_ENVIRONMENT_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wf/status.h"

namespace wf::app {

// Where to look; ReadSurroundings fills it from this process, tests fill it by hand.
struct Surroundings {
  std::string python_option;      // --python; a path, or a name to look up on PATH
  std::string virtual_env;        // $VIRTUAL_ENV
  std::filesystem::path self;     // this program, links resolved
  std::string invoked_as;         // argv[0]
  std::vector<std::string> path;  // $PATH, split
};

Surroundings ReadSurroundings(std::string_view invoked_as, std::string_view python_option);

// The first of: --python, $VIRTUAL_ENV/bin/python, python3 or python beside this program (its resolved file, then the
// name it was called by), python3 on PATH. An explicit choice (--python, VIRTUAL_ENV) that is not there is an error
// and never falls through. Errors: kFailedPrecondition, saying where was looked.
Result<std::filesystem::path> FindPython(const Surroundings& surroundings);

}  // namespace wf::app

#endif  // WF_APP_PYTHON_ENVIRONMENT_H_
