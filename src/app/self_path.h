// The file of the running program, symbolic links resolved.
#ifndef WF_APP_SELF_PATH_H_
#define WF_APP_SELF_PATH_H_

#include <filesystem>

namespace wf::app {

// Empty when the system does not tell.
std::filesystem::path SelfPath();

}  // namespace wf::app

#endif  // WF_APP_SELF_PATH_H_
