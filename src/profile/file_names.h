// File names as a profile shows them: short, but never two files under one name.
#ifndef WF_PROFILE_FILE_NAMES_H_
#define WF_PROFILE_FILE_NAMES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/stack_table.h"

namespace wf::profile {

// For libraries what follows site-packages or the standard library's folder ("numpy/core/numeric.py",
// "json/decoder.py"), else the shortest end of the path that no other of `files` has.
std::map<std::string_view, std::string> ShortFileNames(const std::vector<std::string_view>& files);

// By what a frame is coloured: the package of a library, "python" for the standard library, the library's name of
// native code, "kernel"; "" for the program's own code.
std::string ModuleOf(FrameKind kind, std::string_view file);

}  // namespace wf::profile

#endif  // WF_PROFILE_FILE_NAMES_H_
