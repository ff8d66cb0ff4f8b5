#include "app/package_path.h"

#include <filesystem>
#include <system_error>

namespace wf::app {

const std::string& PackagePaths::Shorten(const std::string& filename) {
  constexpr int kDeepestPackage = 32;
  const auto [known, added] = known_.try_emplace(filename, filename);
  if (!added || filename.empty() || filename[0] != '/') return known->second;
  std::filesystem::path folder = std::filesystem::path(filename).parent_path();
  for (int i = 0; i < kDeepestPackage && folder.has_relative_path(); ++i) {
    std::error_code ignored;
    if (!std::filesystem::exists(root_ + folder.string() + "/__init__.py", ignored)) break;
    folder = folder.parent_path();
  }
  const std::string start = folder == "/" ? "/" : folder.string() + "/";
  known->second = filename.substr(start.size());
  return known->second;
}

}  // namespace wf::app
