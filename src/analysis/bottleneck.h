// Which task to fix first and what holds it up, judged from figures alone; names of tasks play no part.
//
// The task is the one with the largest part of the run's path (run_path.h): making any other faster cannot end the run
// earlier than this one allows. What holds it up is one Finding; "cannot tell, because …" is one too.
#ifndef WF_ANALYSIS_BOTTLENECK_H_
#define WF_ANALYSIS_BOTTLENECK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/finding.h"
#include "analysis/summary.h"

namespace wf::analysis {

// What the verdict needs to know beyond the record.
struct Surroundings {
  int32_t usable_cpus_milli = 0;              // 0: unknown
  std::optional<int64_t> memory_limit_bytes;  // of the machine or cgroup the run used, when that is known
};

// Limits of the rules. Figures between two rules fall to the more careful one.
struct Thresholds {
  double busy_core_low = 0.8;   // a core counts as kept busy from here …
  double busy_core_high = 1.2;  // … and up to here it is about one
  double idle_cores = 0.8;      // fewer idle cores than this, or than idle_share of all: none is left
  double idle_share = 0.15;
  double waiting_attempt = 0.5;  // cores per attempt below which attempts mostly wait
  double overlapping = 1.5;      // attempts at once, on average, from which a task counts as parallel
  double alone = 0.99;           // from here an attempt had its process to itself (TaskSummary::alone)
  double gpu_busy_share = 0.7;
  double disk_bytes_per_s = 20.0 * 1024 * 1024;
  double network_bytes_per_s = 1.0 * 1024 * 1024;
  double memory_share = 0.9;
  double gap_share = 0.2;
  int64_t gap_least_wall_ns = 100'000'000;  // no word about gaps in runs shorter than this
  int64_t too_short_ns = 10'000'000;
  uint64_t tiny_attempts = 1000;
  int64_t tiny_median_ns = 1'000'000;
  double tiny_work_share = 0.5;  // of the run's wall time that was work of the task
};

// What holds up one task.
Finding Judge(const TaskSummary& task, const Surroundings& surroundings, const Thresholds& thresholds = {});

struct Verdict {
  std::optional<Finding> bottleneck;  // absent: nothing ran; its task is the one to fix first
  std::vector<Finding> others;        // gaps, tiny tasks, memory near the limit
};

Verdict FindBottleneck(const RunSummary& summary, const Surroundings& surroundings, const Thresholds& thresholds = {});

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_BOTTLENECK_H_
