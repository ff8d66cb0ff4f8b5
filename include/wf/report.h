// What Workflow::Run returns: the state and the cost of everything that was added.
//
//   wf::RunReport report = flow.Run();
//   for (const wf::NodeReport& node : report.nodes) {
//     std::cout << node.task << " " << wf::StateName(node.state) << " " << node.cpu_ns / 1e9 << " CPU s\n";
//   }
//
// Wall time is how long an attempt took, CPU time how long its thread computed meanwhile. Threads that a task starts
// itself are not seen. Times are CLOCK_MONOTONIC in nanoseconds. Values; no threading of their own.
#ifndef WF_REPORT_H_
#define WF_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "wf/status.h"

namespace wf {

enum class RunState : uint8_t { kRunning, kSuccess, kFailed, kCancelled };
enum class NodeState : uint8_t { kWaiting, kReady, kRunning, kSuccess, kFailed, kSkipped, kCancelled };
enum class AttemptState : uint8_t { kRunning, kSuccess, kError, kTimeout, kCancelled };

// "success", "failed", ...
std::string_view StateName(RunState state);
std::string_view StateName(NodeState state);
std::string_view StateName(AttemptState state);

inline constexpr size_t kNoIndex = static_cast<size_t>(-1);

struct AttemptReport {
  size_t node = 0;      // index into RunReport::nodes
  uint32_t number = 0;  // from 1
  AttemptState state = AttemptState::kRunning;
  int64_t ready_ns = 0;  // it could have started
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t cpu_ns = 0;  // of its thread; threads that the task started are not in it
  int64_t wall_ns() const { return end_ns - start_ns; }
};

struct NodeReport {
  std::string task;
  NodeState state = NodeState::kWaiting;
  size_t parent = kNoIndex;        // the node that added it
  size_t cause = kNoIndex;         // skipped: the node whose failure or cancel came first
  uint32_t attempts = 0;           // 0: never started
  int64_t wall_ns = 0;             // sum over its attempts
  int64_t cpu_ns = 0;              // sum over its attempts
  Status error;                    // of the last attempt, if that failed
  std::exception_ptr exception{};  // what it threw, if it threw
};

struct SpanReport {
  size_t node = 0;
  uint32_t attempt = 0;
  uint32_t depth = 0;  // 0: not inside another span
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t cpu_ns = 0;
};

struct RunReport {
  // OK if every node succeeded; kCancelled; otherwise the error of the node that failed first, with its name.
  Status status;
  RunState state = RunState::kRunning;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::vector<NodeReport> nodes;        // in the order in which they were added; Future::index() leads here
  std::vector<AttemptReport> attempts;  // in the order in which they ended
  std::vector<SpanReport> spans;        // likewise
  uint64_t spans_dropped = 0;           // beyond RunOptions::max_spans
  int64_t wall_ns() const { return end_ns - start_ns; }
};

}  // namespace wf

#endif  // WF_REPORT_H_
