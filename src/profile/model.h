// The one model that everything writes into, reads from or converts to: run, task, node, attempt, usage, process.
//
// Times named *_ns are CLOCK_MONOTONIC of the process that recorded them, in nanoseconds; a Process carries the anchor
// to wall time. 0 in a time means "not yet". Sizes are bytes. Plain values: no threads, no ownership beyond the
// members.
#ifndef WF_PROFILE_MODEL_H_
#define WF_PROFILE_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/run_id.h"
#include "base/states.h"

namespace wf::profile {

// How a figure came to be. Stored as its number: append, never renumber.
enum class Quality : uint8_t {
  kAbsent = 0,     // not measured here; never shown as 0
  kMeasured = 1,   // exact for this attempt
  kEstimated = 2,  // derived; shown with "~"
  kShared = 3,     // true for a group of overlapping attempts, of which this is one
};

// One number and what it is worth. Absent by default.
struct Figure {
  int64_t value = 0;
  Quality quality = Quality::kAbsent;

  static Figure Measured(int64_t v) { return {v, Quality::kMeasured}; }
  bool present() const { return quality != Quality::kAbsent; }
  bool operator==(const Figure&) const = default;
};

// What one attempt used. Wall time is the attempt's own end - start.
struct Usage {
  Figure cpu_ns;             // user + system, all threads and children that worked for it
  Figure memory_peak_bytes;  // high-water mark of resident memory of its process meanwhile
  Figure read_bytes;         // asked for by read calls, page cache included
  Figure write_bytes;
  Figure device_read_bytes;  // fetched from / sent to storage
  Figure device_write_bytes;
  Figure net_received_bytes;
  Figure net_sent_bytes;
  Figure gpu_memory_bytes;  // peak held by our processes on all GPUs
  Figure gpu_busy_ns;
  Figure energy_uj;
  Figure cpu_wait_ns;                // its own thread was ready to run and had no CPU: the machine was busy with others
  int32_t cpus_allocated_milli = 0;  // CPUs this attempt may use, in thousandths; 0 = unknown

  bool operator==(const Usage&) const = default;
};

enum class RunKind : uint8_t { kRun = 0, kRecording = 1, kImport = 2 };

struct Run {
  base::RunId id;
  RunKind kind = RunKind::kRun;
  std::string workflow;  // name of the workflow, or of the program for a recording
  std::string file;      // where it is defined
  std::vector<std::string> argv;
  std::string commit;  // git commit of the working folder, "+dirty" appended; empty = none
  std::map<std::string, std::string> tags;
  std::map<std::string, std::string> params;  // name -> JSON text; secrets are already replaced by "***"
  std::string executor;                       // inline, threads, processes, async
  int32_t workers = 0;
  std::string mode;               // off, always, sample
  int32_t usable_cpus_milli = 0;  // min(affinity, cgroup quota) at start, in thousandths
  std::string python;             // "3.11.7"; empty for C++ runs
  base::RunState state = base::RunState::kRunning;
  std::string cause;  // why it is not success; recorded where it happened
  int64_t start_wall_ns = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// A function that runs, by name. Ids are given by the owner of the run, from 1.
struct Task {
  uint32_t id = 0;
  std::string name;
  std::string qualname;  // module.qualname
  std::string file;
  int32_t line = 0;
  std::string kind;  // function, coroutine, generator, asyncgen
};

// One call of a task. Ids are given by the owner of the run, from 1.
struct Node {
  uint64_t id = 0;
  uint32_t task = 0;
  int64_t map_index = -1;  // -1: not mapped
  uint64_t parent = 0;     // node that created it; 0: the workflow's body
  base::NodeState state = base::NodeState::kWaiting;
  int64_t ready_ns = 0;
  int64_t end_ns = 0;       // when it reached its final state
  uint64_t cause_node = 0;  // skipped: the failed node because of which
  std::string cause;
};

enum class EdgeKind : uint8_t { kData = 0, kAfter = 1 };

struct Edge {
  uint64_t from = 0;
  uint64_t to = 0;
  EdgeKind kind = EdgeKind::kData;
  Figure bytes;
};

// One try at a node.
struct Attempt {
  uint64_t id = 0;
  uint64_t node = 0;
  int32_t number = 1;  // 1 = first
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  base::AttemptState state = base::AttemptState::kRunning;
  int32_t worker = -1;   // small stable index
  uint32_t process = 0;  // Process::id
  int32_t tid = 0;
  std::string cause;      // one line: exception type and message, or signal
  std::string traceback;  // the user's, as printed; empty on success
  bool sampled = false;   // the costly probes were on
  Usage usage;
  // Recordings: the attempt of another run that was met. All that is known of it is when and where it was met first,
  // and its task; it stays kRunning, which it was when it was met last. Nil and 0 elsewhere.
  base::RunId of_run;
  uint64_t of_node = 0;
  uint64_t of_attempt = 0;
};

// A process that took part. Ids are given by the owner of the run, from 1 (1 = the owner).
struct Process {
  uint32_t id = 0;
  std::string host;
  int32_t pid = 0;
  int64_t start_ticks = 0;  // field 22 of /proc/<pid>/stat: pid + this is unique per boot
  std::string boot_id;
  int32_t rank = -1;
  int64_t anchor_monotonic_ns = 0;  // the two clocks, read together
  int64_t anchor_wall_ns = 0;
  std::string name;  // "owner", "worker 3"
};

enum class Stream : uint8_t { kStdout = 0, kStderr = 1, kLog = 2 };

// A piece of captured output or one log record; attempt 0: outside every attempt.
struct LogLine {
  uint64_t attempt = 0;
  int64_t time_ns = 0;
  Stream stream = Stream::kLog;
  int32_t level = 0;  // logging's numbers for kLog, else 0
  std::string text;
};

// One point of a series that belongs to a process, thread or device.
struct SeriesPoint {
  uint32_t process = 0;
  uint64_t attempt = 0;
  int64_t time_ns = 0;
  double value = 0;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_MODEL_H_
