#include "app/self_path.h"

namespace wf::app {

std::filesystem::path SelfPath() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

}  // namespace wf::app
