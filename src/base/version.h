// The version of Workflow, from the project line of the top CMakeLists.txt.
#ifndef WF_BASE_VERSION_H_
#define WF_BASE_VERSION_H_

#include <string_view>

namespace wf {

// "6.0.0"; the same for the command, the package and the C++ library.
std::string_view Version();

}  // namespace wf

#endif  // WF_BASE_VERSION_H_
