#include "profile/file_names.h"

#include <algorithm>

namespace wf::profile {
namespace {

// "lib/python3.11/json/decoder.py" -> where "json" begins; npos when the path has no such part.
size_t AfterStandardLibrary(std::string_view file) {
  const size_t at = file.rfind("/python3.");
  if (at == std::string_view::npos) return at;
  const size_t slash = file.find('/', at + 1);
  // "/opt/python3.11/bin/x.py" is not in the standard library: that lies below a lib folder.
  if (slash == std::string_view::npos || !file.substr(0, at).ends_with("lib")) return std::string_view::npos;
  return slash + 1;
}

size_t AfterPackages(std::string_view file) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = file.rfind(folder);
    if (at != std::string_view::npos) return at + folder.size();
  }
  return std::string_view::npos;
}

size_t StartOfLibraryName(std::string_view file) {
  const size_t packages = AfterPackages(file);
  return packages != std::string_view::npos ? packages : AfterStandardLibrary(file);
}

// The last `parts` parts of the path; all of it when there are not so many.
std::string_view LastParts(std::string_view file, size_t parts) {
  size_t at = file.size();
  for (; parts > 0 && at != std::string_view::npos && at > 0; --parts) at = file.rfind('/', at - 1);
  return at == std::string_view::npos || at == 0 ? file : file.substr(at + 1);
}

}  // namespace

std::map<std::string_view, std::string> ShortFileNames(const std::vector<std::string_view>& files) {
  std::map<std::string_view, std::string> shortened;
  std::vector<std::string_view> open;
  for (const std::string_view file : files) {
    if (!shortened.try_emplace(file, file).second) continue;
    const size_t library = StartOfLibraryName(file);
    if (library != std::string_view::npos && library < file.size()) {
      shortened[file] = file.substr(library);
    } else {
      open.push_back(file);
    }
  }
  for (size_t parts = 1; !open.empty(); ++parts) {
    std::map<std::string_view, size_t> users;
    for (const std::string_view file : open) ++users[LastParts(file, parts)];
    std::erase_if(open, [&](std::string_view file) {
      const std::string_view name = LastParts(file, parts);
      if (users[name] > 1 && name != file) return false;
      shortened[file] = name;
      return true;
    });
  }
  return shortened;
}

std::string ModuleOf(FrameKind kind, std::string_view file) {
  if (kind == FrameKind::kKernel) return "kernel";
  if (kind == FrameKind::kMarker) return "";
  if (kind == FrameKind::kNative) {
    const std::string_view name = LastParts(file, 1);
    return std::string(name.substr(0, name.find(".so")));
  }
  const size_t packages = AfterPackages(file);
  if (packages != std::string_view::npos) {
    const std::string_view rest = file.substr(packages);
    return std::string(rest.substr(0, rest.find_first_of("/.")));
  }
  const bool is_standard = AfterStandardLibrary(file) != std::string_view::npos || file.starts_with("<frozen ");
  return is_standard ? "python" : "";
}

}  // namespace wf::profile
