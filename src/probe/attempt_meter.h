// AttemptMeter: what one attempt used, from a reading at its begin and one at its end.
//
//   probe::AttemptMeter meter;
//   meter.Begin(probe::Depth::kOverOneMs);
//   ... the attempt runs on this thread ...
//   probe::AttemptCost cost = meter.End();      // cost.start_ns, cost.end_ns, cost.usage
//
// Every attempt gets wall time and its own thread's CPU. One that lasted a millisecond or more also gets CPU of helper
// threads and children, memory peak and I/O. Since nobody knows at the begin how long an attempt will last, a full
// reading that this thread took less than a millisecond ago serves as begin reading; so a stream of trivial attempts
// pays for a full reading at most once per millisecond, and else only for four clock readings. No lock is taken on that
// path.
//
// What the figures are worth:
//   CPU     alone in the process from begin to end: all threads (but the profiler's own) and the children waited for,
//           measured. Overlapping with another attempt: its own thread; measured as long as no helper thread and no
//           child worked meanwhile, else estimated (a lower bound: whose the helpers were cannot be told).
//   memory  peak of the process's resident memory meanwhile: measured when alone, shared when attempts overlapped.
//           Estimated where the kernel's high-water mark cannot be reset.
//   I/O     the whole process's when alone, the thread's own when overlapping: measured. Shared for an attempt that was
//           suspended (a coroutine) while others used its thread.
//   Where other work was done between a reused reading and the begin, memory and I/O are estimated.
//
// Threads: one meter belongs to one attempt; its calls come from one thread at a time. Begin and End come from the same
// thread, except that Suspend and Resume may lie on different ones. An End elsewhere (a generator closed by another
// thread) leaves the CPU absent unless the attempt was alone. After fork, the child's copies of open meters give wall
// time only.
#ifndef WF_PROBE_ATTEMPT_METER_H_
#define WF_PROBE_ATTEMPT_METER_H_

#include <cstdint>

#include "probe/readings.h"
#include "profile/model.h"

namespace wf::probe {

enum class Depth : uint8_t {
  kCheap,      // wall and own thread's CPU only
  kOverOneMs,  // the rest for attempts of a millisecond and more: executors inline, threads, async
  kAlways,     // the rest for every attempt: worker processes
};

struct AttemptCost {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t own_cpu_ns = 0;  // the calling thread's part of usage.cpu_ns
  bool alone = false;      // no other attempt was open in this process meanwhile
  profile::Usage usage;    // what could not be measured is absent
};

class AttemptMeter {
 public:
  AttemptMeter() = default;
  AttemptMeter(const AttemptMeter&) = delete;
  AttemptMeter& operator=(const AttemptMeter&) = delete;
  // An attempt still open is forgotten.
  ~AttemptMeter();

  // REQUIRES: not open.
  void Begin(Depth depth);
  // For a coroutine, or a worker that helps with other attempts while this one waits: time between Suspend and Resume
  // is wall time of the attempt but none of its CPU. REQUIRES: open; calls alternate, Suspend first.
  void Suspend();
  void Resume();
  // REQUIRES: open. A suspended attempt may be ended.
  AttemptCost End();

  bool open() const { return open_; }

 private:
  bool TakeBeginReading(const CheapReading& now, uint32_t begun_before, uint32_t open_before);
  void EndSlice(const CheapReading& now, uint64_t thread);
  void EndFull(AttemptCost* cost);
  void FillCpu(const FullReading& end, AttemptCost* cost) const;
  void FillIo(const FullReading& end, bool same_thread, AttemptCost* cost) const;
  void FillMemory(const FullReading& end, int64_t peak_bytes, AttemptCost* cost) const;

  bool open_ = false;
  bool running_ = false;  // not suspended
  bool suspended_once_ = false;
  bool alone_at_begin_ = false;
  bool blurred_process_ = false;  // other work was done between the begin reading and the begin, in this process
  bool blurred_thread_ = false;   // likewise in this thread
  bool own_cpu_known_ = true;     // every slice ended on the thread where it began
  Depth depth_ = Depth::kCheap;
  uint32_t begun_ = 0;         // attempts begun in this process, this one included
  uint64_t generation_ = 0;    // of the process
  uint64_t begin_thread_ = 0;  // serial numbers of threads
  uint64_t slice_thread_ = 0;
  int64_t segment_ = 0;  // of the high-water mark at begin
  int64_t start_ns_ = 0;
  int64_t slice_cpu_start_ns_ = 0;
  int64_t own_cpu_ns_ = 0;      // of ended slices
  int64_t lead_in_cpu_ns_ = 0;  // own thread's CPU between the begin reading and the begin
  FullReading begin_;
};

}  // namespace wf::probe

#endif  // WF_PROBE_ATTEMPT_METER_H_
