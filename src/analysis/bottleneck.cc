#include "analysis/bottleneck.h"

#include <algorithm>
#include <string>

namespace wf::analysis {
namespace {

using profile::Quality;

constexpr double kTellWaitFrom = 0.1;  // share of the wanted CPU time that was not to be had

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

Finding Make(std::string_view rule, const TaskSummary& task) {
  Finding finding;
  finding.rule = rule;
  finding.task = task.name;
  finding.figures = {
      {"wall_ns", static_cast<double>(task.wall_ns)},   {"share", task.share},
      {"path_ns", static_cast<double>(task.path_ns)},   {"path_share", task.path_share},
      {"attempts", static_cast<double>(task.attempts)}, {"concurrency", task.concurrency},
  };
  if (task.cores_used) finding.figures["cores_used"] = *task.cores_used;
  if (task.cores_per_attempt) finding.figures["cores_per_attempt"] = *task.cores_per_attempt;
  return finding;
}

// Time without a CPU counts as use: on a machine that is busy with other work the task would have used a core then.
struct CoreUse {
  double used = 0;  // by the task
  double per_attempt = 0;
  double meanwhile = 0;  // by all tasks
  double usable = 0;     // 0: unknown
  double waited = 0;     // part of `used`: ready to run, but no CPU was free

  double idle() const { return std::max(0.0, usable - meanwhile); }
};

CoreUse UseOf(const TaskSummary& task, const Surroundings& surroundings) {
  const double waited_ns = task.cpu_wait_ns.value();
  const double waited = waited_ns / static_cast<double>(task.wall_ns);
  const auto attempts_ns = static_cast<double>(std::max<int64_t>(task.attempt_walls.total_ns, 1));
  return {.used = *task.cores_used + waited,
          .per_attempt = *task.cores_per_attempt + waited_ns / attempts_ns,
          .meanwhile = std::max(task.machine_cores_used.value_or(0), *task.cores_used),
          .usable = surroundings.usable_cpus_milli / 1000.0,
          .waited = waited};
}

bool NoCoreLeft(const CoreUse& cores, const Thresholds& limits) {
  return cores.idle() < std::max(limits.idle_cores, limits.idle_share * cores.usable);
}

Finding JudgeBusy(const TaskSummary& task, const CoreUse& cores, const Thresholds& limits) {
  std::string_view rule = rule::kCpuSomeCores;
  if (cores.usable == 0) {
    rule = rule::kCpuBusy;
  } else if (NoCoreLeft(cores, limits)) {
    rule = rule::kCpuAllCores;
  } else if (cores.used <= limits.busy_core_high) {
    rule = task.concurrency >= limits.overlapping ? rule::kCpuOneCoreShared : rule::kCpuOneCore;
  }
  Finding finding = Make(rule, task);
  finding.figures["machine_cores_used"] = cores.meanwhile;
  if (cores.waited >= kTellWaitFrom * cores.used) finding.figures["cpu_wait_share"] = cores.waited / cores.used;
  if (cores.usable > 0) {
    finding.figures["usable_cores"] = cores.usable;
    finding.figures["idle_cores"] = cores.idle();
  }
  return finding;
}

// Bytes moved per second of the task's wall time; nullopt when neither direction is known.
std::optional<double> Rate(const TaskSummary& task, const Amount& in, const Amount& out) {
  if (!in.present() && !out.present()) return std::nullopt;
  return (in.value() + out.value()) / Seconds(task.wall_ns);
}

Finding JudgeWaiting(const TaskSummary& task, const CoreUse& cores, const Thresholds& limits) {
  const std::optional<double> disk = Rate(task, task.device_read_bytes, task.device_write_bytes);
  const std::optional<double> network = Rate(task, task.net_received_bytes, task.net_sent_bytes);
  const std::optional<double> asked = Rate(task, task.read_bytes, task.write_bytes);
  const double disk_load = disk.value_or(0) / limits.disk_bytes_per_s;
  const double network_load = network.value_or(0) / limits.network_bytes_per_s;
  std::string_view rule = disk && network ? rule::kWaitQuiet : rule::kWaitUnknown;
  if (disk_load >= 1 && disk_load >= network_load) {
    rule = rule::kIoDisk;
  } else if (network_load >= 1) {
    rule = rule::kIoNetwork;
  }
  Finding finding = Make(rule, task);
  finding.figures["waiting_share"] = std::clamp(1 - cores.per_attempt, 0.0, 1.0);
  if (disk) finding.figures["disk_bytes_per_s"] = *disk;
  if (network) finding.figures["network_bytes_per_s"] = *network;
  if (asked) finding.figures["io_bytes_per_s"] = *asked;
  if (!disk) finding.absent.emplace_back("device_bytes");
  if (!network) finding.absent.emplace_back("network_bytes");
  return finding;
}

bool MostlyWaits(const TaskSummary& task, const CoreUse& cores, const Thresholds& limits) {
  if (cores.used < limits.busy_core_low) return true;
  if (cores.usable > 0 && NoCoreLeft(cores, limits)) return false;  // it waits for a core
  // Attempts that overlap and keep one core busy between them wait for each other (the GIL), not for the world outside.
  if (task.concurrency >= limits.overlapping && cores.used <= limits.busy_core_high) return false;
  return cores.per_attempt < limits.waiting_attempt;
}

void AddMemoryFindings(const RunSummary& summary, const Surroundings& surroundings, const Thresholds& limits,
                       std::vector<Finding>* findings) {
  if (!surroundings.memory_limit_bytes || *surroundings.memory_limit_bytes <= 0) return;
  const auto limit = static_cast<double>(*surroundings.memory_limit_bytes);
  for (const TaskSummary& task : summary.tasks) {
    if (!task.memory_peak_bytes.present() || task.memory_peak_bytes.value() < limits.memory_share * limit) continue;
    Finding finding = Make(rule::kMemoryNearLimit, task);
    finding.figures["memory_peak_bytes"] = task.memory_peak_bytes.value();
    finding.figures["memory_limit_bytes"] = limit;
    finding.figures["memory_share"] = task.memory_peak_bytes.value() / limit;
    findings->push_back(std::move(finding));
  }
}

void AddTinyTasks(const RunSummary& summary, const Thresholds& limits, std::vector<Finding>* findings) {
  for (const TaskSummary& task : summary.tasks) {
    const AttemptWalls& walls = task.attempt_walls;
    const auto run_wall = static_cast<double>(summary.totals.wall_ns);
    if (walls.count < limits.tiny_attempts || walls.median_ns >= limits.tiny_median_ns) continue;
    if (static_cast<double>(walls.total_ns) >= limits.tiny_work_share * run_wall) continue;
    Finding finding = Make(rule::kTinyTasks, task);
    finding.figures["median_ns"] = static_cast<double>(walls.median_ns);
    finding.figures["work_ns"] = static_cast<double>(walls.total_ns);
    finding.figures["run_wall_ns"] = run_wall;
    findings->push_back(std::move(finding));
  }
}

void AddGaps(const RunTotals& totals, const Thresholds& limits, std::vector<Finding>* findings) {
  if (totals.wall_ns < limits.gap_least_wall_ns || totals.attempts == 0) return;
  const double share = static_cast<double>(totals.idle_ns) / static_cast<double>(totals.wall_ns);
  if (share < limits.gap_share) return;
  Finding finding;
  finding.rule = rule::kSchedulingGaps;
  finding.figures = {
      {"idle_ns", static_cast<double>(totals.idle_ns)},
      {"idle_share", share},
      {"idle_ready_ns", static_cast<double>(totals.idle_ready_ns)},
      {"before_first_ns", static_cast<double>(totals.before_first_ns)},
      {"after_last_ns", static_cast<double>(totals.after_last_ns)},
      {"run_wall_ns", static_cast<double>(totals.wall_ns)},
  };
  findings->push_back(std::move(finding));
}

}  // namespace

Finding Judge(const TaskSummary& task, const Surroundings& surroundings, const Thresholds& limits) {
  if (task.attempts == 0) return Make(rule::kUnknownNothingRan, task);
  if (task.wall_ns < limits.too_short_ns) return Make(rule::kUnknownTooShort, task);
  const double gpu_share = task.gpu_busy_ns.value() / static_cast<double>(task.wall_ns);
  if (task.gpu_busy_ns.present() && gpu_share >= limits.gpu_busy_share) {
    Finding finding = Make(rule::kGpuBusy, task);
    finding.figures["gpu_share"] = gpu_share;
    return finding;
  }
  if (!task.cores_used || !task.cores_per_attempt) {
    Finding finding = Make(rule::kUnknownNoCpu, task);
    finding.absent.emplace_back("cpu");
    return finding;
  }
  const CoreUse cores = UseOf(task, surroundings);
  if (!MostlyWaits(task, cores, limits)) return JudgeBusy(task, cores, limits);
  // Where attempts overlapped in a process, CPU that is not exact is a lower bound: helper threads may have been busy
  // for this one. It cannot show that the task waits. An attempt alone in its process has no such doubt.
  if (task.cpu_ns.figure.quality != Quality::kMeasured && task.alone < limits.alone)
    return Make(rule::kUnknownCpuLowerBound, task);
  return JudgeWaiting(task, cores, limits);
}

Verdict FindBottleneck(const RunSummary& summary, const Surroundings& surroundings, const Thresholds& limits) {
  Verdict verdict;
  const auto worst =
      std::max_element(summary.tasks.begin(), summary.tasks.end(), [](const TaskSummary& a, const TaskSummary& b) {
        return a.path_ns != b.path_ns ? a.path_ns < b.path_ns : a.wall_ns < b.wall_ns;
      });
  if (worst != summary.tasks.end() && worst->attempts > 0) {
    verdict.bottleneck = Judge(*worst, surroundings, limits);
  }
  AddGaps(summary.totals, limits, &verdict.others);
  AddTinyTasks(summary, limits, &verdict.others);
  AddMemoryFindings(summary, surroundings, limits, &verdict.others);
  return verdict;
}

}  // namespace wf::analysis
