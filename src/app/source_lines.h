// SourceLines: the lines of a target's source files, as far as they are what it runs.
#ifndef WF_APP_SOURCE_LINES_H_
#define WF_APP_SOURCE_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace wf::app {

class SourceLines {
 public:
  // Of this process, whose mounts are looked through (/proc/<pid>/root).
  explicit SourceLines(int32_t pid);
  // As seen from here, of a process that lived until `newest_ns` at most (wall time). Relative names are not looked
  // for.
  static SourceLines Until(int64_t newest_ns) { return {"", "", newest_ns}; }

  // The line without the spaces around it, at most 200 bytes. Empty when the file is gone, is no regular file, is
  // larger than 16 MiB, was changed after the process had started, or has no such line.
  std::string Of(const std::string& filename, int32_t line);

 private:
  std::vector<std::string> Load(const std::string& filename) const;

  SourceLines(std::string root, std::string folder, int64_t newest_ns)
      : root_(std::move(root)), folder_(std::move(folder)), newest_ns_(newest_ns) {}

  const std::string root_;
  const std::string folder_;  // that relative names begin at; empty: not known
  const int64_t newest_ns_;   // wall time: files changed later are not what runs
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace wf::app

#endif  // WF_APP_SOURCE_LINES_H_
