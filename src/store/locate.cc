#include <cstdlib>

#include "store/store.h"

namespace wf::store {

std::filesystem::path Locate(std::string_view explicit_folder) {
  if (!explicit_folder.empty()) return explicit_folder;
  if (const char* from_environment = std::getenv("WF_STORE");
      from_environment != nullptr && *from_environment != '\0') {
    return from_environment;
  }
  std::error_code error;
  const std::filesystem::path current = std::filesystem::current_path(error);
  if (error) return ".wf";
  for (std::filesystem::path at = current;; at = at.parent_path()) {
    if (std::filesystem::is_regular_file(at / "workflow.toml", error)) return at / ".wf";
    if (!at.has_relative_path()) return current / ".wf";
  }
}

}  // namespace wf::store
