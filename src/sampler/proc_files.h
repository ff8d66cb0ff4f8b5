// What /proc tells about a target: its modules, its threads, who may look at it.
#ifndef WF_SAMPLER_PROC_FILES_H_
#define WF_SAMPLER_PROC_FILES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpython/runtime.h"

namespace wf::sampler {

// The text of a file of /proc, at most 16 MiB; nullopt when it cannot be read, with errno in `*error` if given.
std::optional<std::string> ReadProc(int32_t pid, const std::string& name, int* error = nullptr);

// The programs and libraries in the target, those that look like Python first. From the text of /proc/<pid>/maps.
std::vector<cpython::Module> ModulesIn(const std::string& maps);

struct ProcessStatus {
  std::string name;
  char state = '?';
  uint32_t uid = 0;        // effective
  int32_t tracer = 0;      // pid of who traces it
  uint64_t permitted = 0;  // capabilities
  bool kernel_thread = false;
  std::vector<int32_t> ns_pids;  // its pid in each PID namespace, outermost first
};

// From the texts of /proc/<pid>/status and /proc/<pid>/stat; what they do not say stays as it is above.
ProcessStatus StatusIn(std::string_view status, std::string_view stat);
// nullopt when there is no such process.
std::optional<ProcessStatus> ReadStatus(int32_t pid);

// The command line, words joined by spaces; "[name]" when it is empty.
std::string CommandLine(int32_t pid);

struct Task {
  char state = '?';  // R, S, D, T, t, Z
  std::string name;  // what the kernel calls it
};

// From the text of a stat file.
Task TaskIn(std::string_view stat);
// The ids of the threads as seen from here, sorted.
std::vector<int32_t> ReadTids(int32_t pid);
// The threads by their id as seen from here.
std::map<int32_t, Task> ReadTasks(int32_t pid);

// From ids in the target's own PID namespace to ids as seen from here; empty when both are the same.
std::map<int32_t, int32_t> OuterTids(int32_t pid, const std::map<int32_t, Task>& tasks);

// The processes below `pid`, at any depth, each after its parent.
std::vector<int32_t> Descendants(int32_t pid);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_PROC_FILES_H_
