// RunRecords made by hand, for tests: times in milliseconds, a task is created at its first mention.
#ifndef WF_ANALYSIS_RECORD_FOR_TEST_H_
#define WF_ANALYSIS_RECORD_FOR_TEST_H_

#include <algorithm>
#include <initializer_list>
#include <string>

#include "profile/run_record.h"

namespace wf::analysis {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kMiB = 1024 * 1024;

class RecordForTest {
 public:
  explicit RecordForTest(int64_t run_wall_ms, double usable_cpus = 8) {
    record_.run.id = *base::RunId::Parse("01KAFG0000000000000000TEST");
    record_.run.workflow = "training";
    record_.run.file = "pipeline.py";
    record_.run.executor = "threads";
    record_.run.mode = "always";
    record_.run.python = "3.11.7";
    record_.run.workers = 4;
    record_.run.state = base::RunState::kSuccess;
    record_.run.usable_cpus_milli = static_cast<int32_t>(usable_cpus * 1000);
    record_.run.start_wall_ns = int64_t{1'780'000'000} * 1'000'000'000;
    record_.run.start_ns = kStart;
    record_.run.end_ns = kStart + run_wall_ms * kMs;
    AddProcess("owner");
  }

  uint32_t AddProcess(const std::string& name) {
    profile::Process process;
    process.id = static_cast<uint32_t>(record_.processes.size()) + 1;
    process.host = "host";
    process.boot_id = "boot";
    process.pid = 1000 + static_cast<int32_t>(process.id);
    process.name = name;
    record_.processes.push_back(process);
    return process.id;
  }

  // A node of `task` that depends on `dependencies`; returns its id. Without an Attempt it has not run.
  uint64_t Node(const std::string& task, std::initializer_list<uint64_t> dependencies = {}) {
    profile::Node node;
    node.id = record_.nodes.size() + 1;
    node.task = TaskId(task);
    record_.nodes.push_back(node);
    for (const uint64_t from : dependencies) record_.edges.push_back({from, node.id, profile::EdgeKind::kData, {}});
    return node.id;
  }

  // An attempt at `node`, successful unless changed afterwards. The node is ready when it starts, unless set before.
  profile::Attempt& Attempt(uint64_t node, int64_t start_ms, int64_t end_ms, double cpu_ms = -1) {
    profile::Attempt attempt;
    attempt.id = record_.attempts.size() + 1;
    attempt.node = node;
    attempt.number = 1 + static_cast<int32_t>(std::count_if(record_.attempts.begin(), record_.attempts.end(),
                                                            [node](const auto& a) { return a.node == node; }));
    attempt.process = 1;
    attempt.start_ns = kStart + start_ms * kMs;
    attempt.end_ns = kStart + end_ms * kMs;
    attempt.state = base::AttemptState::kSuccess;
    if (cpu_ms >= 0) attempt.usage.cpu_ns = profile::Figure::Measured(static_cast<int64_t>(cpu_ms * kMs));
    record_.attempts.push_back(attempt);
    profile::Node& its_node = record_.nodes[node - 1];
    its_node.state = base::NodeState::kSuccess;
    if (its_node.ready_ns == 0) its_node.ready_ns = attempt.start_ns;
    its_node.end_ns = attempt.end_ns;
    return record_.attempts.back();
  }

  // A node with one attempt.
  profile::Attempt& Call(const std::string& task, int64_t start_ms, int64_t end_ms, double cpu_ms = -1) {
    return Attempt(Node(task), start_ms, end_ms, cpu_ms);
  }

  void ReadyAt(uint64_t node, int64_t ms) { record_.nodes[node - 1].ready_ns = kStart + ms * kMs; }

  profile::RunRecord& record() { return record_; }

  static constexpr int64_t kStart = 5'000 * kMs;

 private:
  uint32_t TaskId(const std::string& name) {
    for (const profile::Task& task : record_.tasks) {
      if (task.name == name) return task.id;
    }
    profile::Task task;
    task.id = static_cast<uint32_t>(record_.tasks.size()) + 1;
    task.name = name;
    task.qualname = "pipeline." + name;
    task.file = "pipeline.py";
    task.line = 10 * static_cast<int32_t>(task.id);
    task.kind = "function";
    record_.tasks.push_back(task);
    return task.id;
  }

  profile::RunRecord record_;
};

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_RECORD_FOR_TEST_H_
