#include "probe/attempt_meter.h"

#include <algorithm>
#include <thread>

#include "base/check.h"
#include "probe/process_state.h"

namespace wf::probe {
namespace {

using profile::Figure;
using profile::Quality;

constexpr int64_t kFullNs = 1'000'000;  // attempts from here on get full readings; readings younger are reused

// A thread that used less than this since its begin reading cannot have moved much memory or data meanwhile.
constexpr int64_t kQuietLeadInNs = 100'000;

int64_t Difference(int64_t begin, int64_t end) {
  return begin == kAbsent || end == kAbsent ? kAbsent : std::max<int64_t>(0, end - begin);
}

Figure FigureOf(int64_t value, Quality quality) { return value < 0 ? Figure{} : Figure{value, quality}; }

// No process can use more CPU than this; children that were started earlier and waited for now could seem to.
int64_t MostCpuNs(int64_t wall_ns) {
  static const int64_t cpus = std::max(1U, std::thread::hardware_concurrency());
  return wall_ns > INT64_MAX / cpus ? INT64_MAX : wall_ns * cpus;
}

// Clocks of several threads cannot be read at one instant; below this, helpers count as idle.
int64_t HelperSlackNs(int64_t own_ns) { return std::max<int64_t>(own_ns / 20, 200'000); }

void Remember(const FullReading& reading, uint32_t begun, bool others_open, ThreadState* thread) {
  thread->last = reading;
  thread->has_last = true;
  thread->others_open_at_last = others_open;
  thread->begun_at_last = begun;
  thread->begins_since_last = 0;
}

}  // namespace

AttemptMeter::~AttemptMeter() {
  if (open_ && generation_ == g_process.generation.load()) g_process.EndAttempt();
}

void AttemptMeter::Begin(Depth depth) {
  WF_CHECK(!open_);
  ThreadState& thread = CurrentThread();
  ListThread(&thread, ThreadRole::kAttempt);
  const AttemptCount before = g_process.BeginAttempt();
  open_ = running_ = own_cpu_known_ = true;
  suspended_once_ = blurred_process_ = blurred_thread_ = false;
  alone_at_begin_ = before.open == 0;
  depth_ = depth;
  begun_ = before.begun + 1;
  generation_ = thread.generation;
  begin_thread_ = slice_thread_ = thread.serial;
  own_cpu_ns_ = lead_in_cpu_ns_ = 0;
  CheapReading now = CheapReading::Now();
  if (depth != Depth::kCheap) {
    if (TakeBeginReading(now, before.begun, before.open)) now = CheapReading::Now();
    segment_ = g_process.high_water.segment();
    lead_in_cpu_ns_ = now.thread_cpu_ns - begin_.thread_cpu_ns;
    if (lead_in_cpu_ns_ > kQuietLeadInNs) blurred_process_ = blurred_thread_ = true;
  }
  ++thread.begins_since_last;
  start_ns_ = now.wall_ns;
  slice_cpu_start_ns_ = now.thread_cpu_ns;
}

// True when it took a fresh one.
bool AttemptMeter::TakeBeginReading(const CheapReading& now, uint32_t begun_before, uint32_t open_before) {
  ThreadState& thread = CurrentThread();
  if (depth_ == Depth::kOverOneMs && thread.has_last && now.wall_ns - thread.last.wall_ns < kFullNs) {
    begin_ = thread.last;
    blurred_process_ = thread.others_open_at_last || thread.begun_at_last != begun_before;
    blurred_thread_ = thread.begins_since_last > 0;
    return false;
  }
  // Where attempts overlap, the peak is shared in any case: a young segment then serves all that begin within it.
  const bool young_segment = now.wall_ns - g_process.high_water.segment_start_ns() < kFullNs;
  if (depth_ == Depth::kAlways || open_before == 0 || !young_segment) g_process.high_water.Cut();
  begin_ = FullReading::Now();
  Remember(begin_, begun_before, open_before > 0, &thread);
  return true;
}

void AttemptMeter::EndSlice(const CheapReading& now, uint64_t thread) {
  running_ = false;
  if (thread != slice_thread_) {
    own_cpu_known_ = false;
    return;
  }
  own_cpu_ns_ += std::max<int64_t>(0, now.thread_cpu_ns - slice_cpu_start_ns_);
}

void AttemptMeter::Suspend() {
  WF_CHECK(open_ && running_);
  suspended_once_ = true;
  EndSlice(CheapReading::Now(), CurrentThread().serial);
}

void AttemptMeter::Resume() {
  WF_CHECK(open_ && !running_);
  running_ = true;
  slice_thread_ = CurrentThread().serial;
  slice_cpu_start_ns_ = base::ThreadCpuNs();
}

AttemptCost AttemptMeter::End() {
  WF_CHECK(open_);
  const CheapReading now = CheapReading::Now();
  ThreadState& thread = CurrentThread();
  open_ = false;
  AttemptCost cost;
  cost.start_ns = start_ns_;
  cost.end_ns = now.wall_ns;
  if (generation_ != thread.generation) return cost;  // begun by the parent of this forked child
  if (running_) EndSlice(now, thread.serial);
  cost.own_cpu_ns = own_cpu_ns_;
  const bool full = depth_ == Depth::kAlways || (depth_ == Depth::kOverOneMs && now.wall_ns - start_ns_ >= kFullNs);
  if (full) {
    EndFull(&cost);
    return cost;
  }
  const AttemptCount before = g_process.EndAttempt();
  cost.alone = alone_at_begin_ && before.begun == begun_;
  if (own_cpu_known_) cost.usage.cpu_ns = Figure::Measured(own_cpu_ns_);
  return cost;
}

void AttemptMeter::EndFull(AttemptCost* cost) {
  ThreadState& thread = CurrentThread();
  const FullReading end = FullReading::Now();
  const int64_t peak_bytes = g_process.high_water.CutAndPeakSince(segment_);
  const AttemptCount before = g_process.EndAttempt();
  cost->alone = alone_at_begin_ && before.begun == begun_;
  Remember(end, before.begun, before.open > 1, &thread);
  FillCpu(end, cost);
  FillIo(end, thread.serial == begin_thread_, cost);
  if (thread.serial == begin_thread_ && !suspended_once_) {
    const int64_t waited = Difference(begin_.thread_cpu_wait_ns, end.thread_cpu_wait_ns);
    cost->usage.cpu_wait_ns = FigureOf(waited, blurred_thread_ ? Quality::kEstimated : Quality::kMeasured);
  }
  FillMemory(end, peak_bytes, cost);
}

void AttemptMeter::FillCpu(const FullReading& end, AttemptCost* cost) const {
  const int64_t process = Difference(begin_.process_cpu_ns, end.process_cpu_ns);
  const int64_t services = Difference(begin_.service_cpu_ns, end.service_cpu_ns);
  const int64_t attempts = Difference(begin_.attempt_threads_cpu_ns, end.attempt_threads_cpu_ns);
  const int64_t children = std::max<int64_t>(0, Difference(begin_.children_cpu_ns, end.children_cpu_ns));
  const int64_t others = process - services - (attempts == kAbsent ? own_cpu_ns_ : attempts);
  const int64_t helpers = std::max<int64_t>(0, others);
  Quality quality = Quality::kMeasured;
  int64_t cpu = own_cpu_ns_;
  if (cost->alone && suspended_once_) {  // the event loop's thread works for others between our slices
    if (attempts == kAbsent || !own_cpu_known_) quality = Quality::kEstimated;
    cpu += children + (attempts == kAbsent ? 0 : helpers);
  } else if (cost->alone) {
    cpu = std::max(own_cpu_ns_, process - services - lead_in_cpu_ns_) + children;
  } else {
    if (!own_cpu_known_) return;
    if (helpers > HelperSlackNs(own_cpu_ns_) || children > 0) quality = Quality::kEstimated;
  }
  if (cost->alone && blurred_process_ && MostCpuNs(start_ns_ - begin_.wall_ns) > cpu / 100)
    quality = Quality::kEstimated;
  cost->usage.cpu_ns = {std::min(cpu, MostCpuNs(cost->end_ns - cost->start_ns)), quality};
}

void AttemptMeter::FillIo(const FullReading& end, bool same_thread, AttemptCost* cost) const {
  const bool own_thread = !cost->alone && same_thread && end.thread_io.present() && begin_.thread_io.present();
  const IoTotals& from = own_thread ? begin_.thread_io : begin_.process_io;
  const IoTotals& to = own_thread ? end.thread_io : end.process_io;
  Quality quality = Quality::kMeasured;
  if (own_thread ? blurred_thread_ : blurred_process_) quality = Quality::kEstimated;
  if (!cost->alone && (!own_thread || suspended_once_)) quality = Quality::kShared;
  profile::Usage& usage = cost->usage;
  usage.read_bytes = FigureOf(Difference(from.read_bytes, to.read_bytes), quality);
  usage.write_bytes = FigureOf(Difference(from.write_bytes, to.write_bytes), quality);
  usage.device_read_bytes = FigureOf(Difference(from.device_read_bytes, to.device_read_bytes), quality);
  usage.device_write_bytes = FigureOf(Difference(from.device_write_bytes, to.device_write_bytes), quality);
}

void AttemptMeter::FillMemory(const FullReading& end, int64_t peak_bytes, AttemptCost* cost) const {
  Quality quality = blurred_process_ ? Quality::kEstimated : Quality::kMeasured;
  if (!cost->alone) quality = Quality::kShared;
  if (peak_bytes < 0 && end.max_rss_bytes > begin_.max_rss_bytes) peak_bytes = end.max_rss_bytes;
  if (peak_bytes < 0) {  // the mark stands where an earlier spike left it: all we know is the two ends
    peak_bytes = std::max(begin_.rss_bytes, end.rss_bytes);
    quality = Quality::kEstimated;
  }
  cost->usage.memory_peak_bytes = FigureOf(peak_bytes, quality);
}

}  // namespace wf::probe
