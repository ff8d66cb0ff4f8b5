// PackagePaths: file names as people say them: from the outermost package on.
#ifndef WF_APP_PACKAGE_PATH_H_
#define WF_APP_PACKAGE_PATH_H_

#include <map>
#include <string>

namespace wf::app {

// "/usr/lib/python3.11/concurrent/futures/thread.py" -> "concurrent/futures/thread.py": the folders above a file belong
// to it as long as they hold an __init__.py. Names that are no absolute path stay.
class PackagePaths {
 public:
  // `root`: where the target's file system is seen from here, such as /proc/7/root.
  explicit PackagePaths(std::string root) : root_(std::move(root)) {}

  const std::string& Shorten(const std::string& filename);

 private:
  const std::string root_;
  std::map<std::string, std::string> known_;
};

}  // namespace wf::app

#endif  // WF_APP_PACKAGE_PATH_H_
