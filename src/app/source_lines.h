// SourceLines: the lines of a target's source files, as far as they are what it runs.
#ifndef WF_APP_SOURCE_LINES_H_
#define WF_APP_SOURCE_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wf::app {

class SourceLines {
 public:
  // Of this process, whose mounts are looked through (/proc/<pid>/root).
  explicit SourceLines(int32_t pid);

  // The line without the spaces around it, at most 200 bytes. Empty when the file is gone, is no regular file, is
  // larger than 16 MiB, was changed after the process had started, or has no such line.
  std::string Of(const std::string& filename, int32_t line);

 private:
  std::vector<std::string> Load(const std::string& filename) const;

  const std::string proc_;
  const int64_t newest_ns_;  // wall time: files changed later are not what runs
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace wf::app

#endif  // WF_APP_SOURCE_LINES_H_
