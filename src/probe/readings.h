// Readings of what the calling thread and this process have used so far. The difference of two is what happened between
// them; attempt_meter.h makes Usage out of such differences.
//
// Everything here is safe to call from any thread, allocates nothing and cannot fail as a whole: a field whose source
// is closed to us is kAbsent, and `wf doctor` (capabilities.h) says why. Descriptors of /proc files are opened once,
// close-on-exec, and opened anew in a forked child.
#ifndef WF_PROBE_READINGS_H_
#define WF_PROBE_READINGS_H_

#include <cstdint>

#include "base/clock.h"

namespace wf::probe {

inline constexpr int64_t kAbsent = -1;

// What every attempt pays for: some 250 ns.
struct CheapReading {
  int64_t wall_ns = 0;  // CLOCK_MONOTONIC
  int64_t thread_cpu_ns = 0;

  static CheapReading Now() { return {base::MonotonicNs(), base::ThreadCpuNs()}; }
};

// Totals of one /proc/<…>/io file, less what the profiler itself read and wrote to measure.
struct IoTotals {
  int64_t read_bytes = kAbsent;  // rchar: asked for by read calls, page cache, pipes and sockets included
  int64_t write_bytes = kAbsent;
  int64_t device_read_bytes = kAbsent;  // read_bytes: fetched from storage
  int64_t device_write_bytes = kAbsent;

  bool present() const { return read_bytes >= 0; }
};

// A few microseconds; see docs/probes.md for each field's cost.
struct FullReading {
  int64_t wall_ns = 0;
  int64_t thread_cpu_ns = 0;
  int64_t process_cpu_ns = 0;          // all threads, ended ones included
  int64_t children_cpu_ns = kAbsent;   // children that ended and were waited for, and theirs
  int64_t service_cpu_ns = 0;          // threads of ours: RegisterServiceThread
  int64_t attempt_threads_cpu_ns = 0;  // threads that ever carried an attempt; kAbsent when there are too many to read
  // Only where the mark of peak memory cannot be reset (high_water.h).
  int64_t max_rss_bytes = kAbsent;       // highest resident memory since the program began
  int64_t rss_bytes = kAbsent;           // now
  int64_t thread_cpu_wait_ns = kAbsent;  // the calling thread was ready to run and waited for a CPU
  IoTotals thread_io;
  IoTotals process_io;

  static FullReading Now();
};

// Resident memory of this process now, from /proc/self/statm; kAbsent when it cannot be read.
int64_t ResidentBytes();

// Declares the calling thread to be one of the profiler's own (poller, writer, metrics server), until it ends: its CPU
// is never counted as an attempt's. Calling it twice is harmless. A thread has one role at a time, the last one
// declared: an attempt that begins on a service thread makes it an attempt thread.
void RegisterServiceThread();
// Likewise for a thread that carries attempts; AttemptMeter does it by itself.
void RegisterAttemptThread();

}  // namespace wf::probe

#endif  // WF_PROBE_READINGS_H_
