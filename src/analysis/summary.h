// What each task of a run took and used, summed over its attempts.
#ifndef WF_ANALYSIS_SUMMARY_H_
#define WF_ANALYSIS_SUMMARY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_index.h"
#include "profile/run_record.h"

namespace wf::analysis {

// A sum or a maximum over the attempts of a task, and what it is worth: the weakest quality among its parts. A sum
// in which some attempts are missing is a lower bound and therefore kEstimated.
struct Amount {
  profile::Figure figure;
  uint64_t attempts_measured = 0;

  bool present() const { return figure.present(); }
  double value() const { return static_cast<double>(figure.value); }
};

// Wall times of single attempts. Never called "wall" of the task: attempts overlap.
struct AttemptWalls {
  uint64_t count = 0;  // finished attempts
  int64_t total_ns = 0;
  int64_t median_ns = 0;
  int64_t max_ns = 0;
};

struct TaskSummary {
  uint32_t task = 0;  // profile::Task::id
  std::string name;
  uint64_t nodes = 0;
  std::array<uint64_t, 8> nodes_by_state{};  // indexed by base::NodeState
  uint64_t attempts = 0;
  uint64_t failed_attempts = 0;  // error, timeout, lost
  int64_t first_start_ns = 0;    // since the start of the run

  int64_t wall_ns = 0;  // while at least one attempt ran
  double share = 0;     // of the run's wall time
  AttemptWalls attempt_walls;
  int64_t queue_ns = 0;    // ready to started, summed over nodes
  double concurrency = 0;  // attempts that ran at once, on average
  double alone = 1;        // 1: none of its attempts overlapped with another in its process; else the smallest
                           // part that one had of its process, as in Timeline::own_part

  Amount cpu_ns;
  Amount cpu_wait_ns;                        // own threads were ready to run and had no CPU
  std::optional<double> cores_used;          // CPU seconds per second of wall_ns
  std::optional<double> cores_per_attempt;   // CPU seconds per second of one attempt
  std::optional<double> machine_cores_used;  // of all tasks meanwhile
  int32_t cpus_allocated_milli = 0;          // of one attempt, the largest; 0 = unknown

  Amount memory_peak_bytes;
  Amount read_bytes;
  Amount write_bytes;
  Amount device_read_bytes;
  Amount device_write_bytes;
  Amount net_received_bytes;
  Amount net_sent_bytes;
  Amount gpu_memory_bytes;
  Amount gpu_busy_ns;
  Amount energy_uj;

  int64_t path_ns = 0;    // of the chain of attempts that decided when the run ended (run_path.h)
  double path_share = 0;  // of the run's wall time
};

struct RunTotals {
  int64_t wall_ns = 0;
  bool ended = false;  // false: up to its last sign of life
  uint64_t nodes = 0;
  uint64_t attempts = 0;
  Amount cpu_ns;
  Amount memory_peak_bytes;
  int64_t idle_ns = 0;  // nothing ran
  int64_t idle_ready_ns = 0;
  int64_t before_first_ns = 0;
  int64_t after_last_ns = 0;
};

struct RunSummary {
  RunTotals totals;
  std::vector<TaskSummary> tasks;  // largest share of the run first
};

RunSummary Summarize(const profile::RunRecord& record);

// Ids of the figures that no attempt of the run has: "cpu", "memory", "io_bytes", "device_bytes", "network_bytes",
// "gpu_memory", "gpu_busy", "energy". Empty when nothing ran.
std::vector<std::string> AbsentFigures(const RunSummary& summary);

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_SUMMARY_H_
