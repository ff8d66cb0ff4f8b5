// Clocks, all in integer nanoseconds.
//
// MonotonicNs is the time line of a process: every start and end in the model is taken from it. WallNs is only used
// for the anchor of a process, since hosts disagree about it. Measured on a small VM: monotonic 25 ns, thread CPU
// 200 ns (a system call), process CPU 250 ns.
#ifndef WF_BASE_CLOCK_H_
#define WF_BASE_CLOCK_H_

#include <cstdint>
#include <ctime>

namespace wf::base {

inline int64_t ReadClockNs(clockid_t clock) {
  timespec ts{};
  clock_gettime(clock, &ts);
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

inline int64_t MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }
inline int64_t WallNs() { return ReadClockNs(CLOCK_REALTIME); }
// CPU time, user and system, of the calling thread / of all threads of this process, ended ones included.
inline int64_t ThreadCpuNs() { return ReadClockNs(CLOCK_THREAD_CPUTIME_ID); }
inline int64_t ProcessCpuNs() { return ReadClockNs(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace wf::base

#endif  // WF_BASE_CLOCK_H_
