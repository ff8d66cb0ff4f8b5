// A folder that stands for "/" in the tests of parsers of /proc and /sys; removed with the object.
#ifndef WF_PROBE_RECORDED_TREE_TESTING_H_
#define WF_PROBE_RECORDED_TREE_TESTING_H_

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace wf::probe {

class RecordedTree {
 public:
  RecordedTree() {
    std::string name = (std::filesystem::temp_directory_path() / "wf_probe_tree_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~RecordedTree() {
    std::error_code error;
    if (!root_.empty()) std::filesystem::remove_all(root_, error);
  }
  RecordedTree(const RecordedTree&) = delete;
  RecordedTree& operator=(const RecordedTree&) = delete;

  RecordedTree& File(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return *this;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace wf::probe

#endif  // WF_PROBE_RECORDED_TREE_TESTING_H_
