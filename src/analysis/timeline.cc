#include "analysis/timeline.h"

#include <algorithm>
#include <map>

namespace wf::analysis {
namespace {

// Nodes that became ready raise the count of waiting ones until their first attempt starts.
enum class Kind : uint8_t { kReady, kStart, kEnd, kUnready };

struct Event {
  int64_t time_ns;
  Kind kind;
  size_t interval;  // kStart, kEnd
};

// A value that grows with time while something is open: the integral is read at opening and at closing.
struct Meter {
  int open = 0;
  double at_open = 0;

  // Returns what was gained when the last one closes.
  double Close(double now) { return --open == 0 ? now - at_open : 0; }
  void Open(double now) {
    if (open++ == 0) at_open = now;
  }
};

struct TaskMeters {
  Meter wall;
  Meter cpu_wall;
  Meter machine_cpu;
};

struct ProcessShare {
  int open = 0;
  int64_t last_ns = 0;
  double integral = 0;  // of 1/open over time

  double Advance(int64_t now) {
    if (open > 0) integral += static_cast<double>(now - last_ns) / open;
    last_ns = now;
    return integral;
  }
};

std::vector<Event> EventsOf(const RunIndex& index) {
  std::vector<Event> events;
  events.reserve(index.intervals.size() * 2 + index.record.nodes.size() * 2);
  for (size_t i = 0; i < index.intervals.size(); ++i) {
    events.push_back({index.intervals[i].start_ns, Kind::kStart, i});
    events.push_back({index.intervals[i].end_ns, Kind::kEnd, i});
  }
  for (size_t n = 0; n < index.record.nodes.size(); ++n) {
    const int64_t ready = index.record.nodes[n].ready_ns;
    if (ready == 0 || index.of_node[n].empty()) continue;
    const int64_t started = index.intervals[index.of_node[n].front()].start_ns;
    if (started <= ready) continue;
    events.push_back({ready, Kind::kReady, 0});
    events.push_back({started, Kind::kUnready, 0});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.kind < b.kind;
  });
  return events;
}

class Sweep {
 public:
  explicit Sweep(const RunIndex& index) : index_(index), now_ns_(index.start_ns) {
    timeline_.tasks.resize(index.record.tasks.size());
    timeline_.own_part.resize(index.intervals.size());
    meters_.resize(index.record.tasks.size());
    share_at_start_.resize(index.intervals.size());
  }

  Timeline Run() {
    for (const Event& event : EventsOf(index_)) {
      AdvanceTo(event.time_ns);
      switch (event.kind) {
        case Kind::kReady: ++ready_; break;
        case Kind::kUnready: --ready_; break;
        case Kind::kStart: Start(event.interval); break;
        case Kind::kEnd: End(event.interval); break;
      }
    }
    AdvanceTo(index_.end_ns);
    if (!index_.intervals.empty()) {
      timeline_.before_first_ns = std::max<int64_t>(0, index_.intervals.front().start_ns - index_.start_ns);
      timeline_.after_last_ns = std::max<int64_t>(0, index_.end_ns - last_end_ns_);
    }
    return std::move(timeline_);
  }

 private:
  void AdvanceTo(int64_t time_ns) {
    const int64_t step = std::min(time_ns, index_.end_ns) - now_ns_;
    if (step <= 0) return;
    if (running_ == 0) timeline_.idle_ns += step;
    if (running_ == 0 && ready_ > 0) timeline_.idle_ready_ns += step;
    cpu_ns_ += cpu_rate_ * static_cast<double>(step);
    now_ns_ += step;
  }

  // CPU nanoseconds per nanosecond of an attempt.
  static double RateOf(const Interval& interval) {
    const profile::Figure& cpu = interval.attempt->usage.cpu_ns;
    if (!cpu.present() || interval.wall_ns() <= 0) return 0;
    return static_cast<double>(cpu.value) / static_cast<double>(interval.wall_ns());
  }

  void Start(size_t i) {
    const Interval& interval = index_.intervals[i];
    TaskMeters& meters = meters_[interval.task];
    const auto now = static_cast<double>(now_ns_);
    meters.wall.Open(now);
    if (interval.attempt->usage.cpu_ns.present()) meters.cpu_wall.Open(now);
    meters.machine_cpu.Open(cpu_ns_);
    cpu_rate_ += RateOf(interval);
    ++running_;
    ProcessShare& process = processes_[interval.attempt->process];
    share_at_start_[i] = process.Advance(interval.start_ns);
    ++process.open;
  }

  void End(size_t i) {
    const Interval& interval = index_.intervals[i];
    TaskMeters& meters = meters_[interval.task];
    TaskTimeline& task = timeline_.tasks[interval.task];
    const auto now = static_cast<double>(now_ns_);
    task.wall_ns += static_cast<int64_t>(meters.wall.Close(now));
    if (interval.attempt->usage.cpu_ns.present()) task.cpu_wall_ns += static_cast<int64_t>(meters.cpu_wall.Close(now));
    task.machine_cpu_ns += meters.machine_cpu.Close(cpu_ns_);
    --running_;
    cpu_rate_ = running_ == 0 ? 0 : cpu_rate_ - RateOf(interval);  // 0: no rounding errors pile up
    last_end_ns_ = std::max(last_end_ns_, interval.end_ns);
    ProcessShare& process = processes_[interval.attempt->process];
    const double gained = process.Advance(interval.end_ns) - share_at_start_[i];
    timeline_.own_part[i] = interval.wall_ns() > 0 ? gained / static_cast<double>(interval.wall_ns()) : 1;
    --process.open;
  }

  const RunIndex& index_;
  Timeline timeline_;
  int64_t now_ns_;
  int64_t last_end_ns_ = 0;
  int running_ = 0;
  int ready_ = 0;
  double cpu_rate_ = 0;
  double cpu_ns_ = 0;  // of all attempts so far
  std::vector<TaskMeters> meters_;
  std::vector<double> share_at_start_;
  std::map<uint32_t, ProcessShare> processes_;
};

}  // namespace

Timeline MakeTimeline(const RunIndex& index) { return Sweep(index).Run(); }

}  // namespace wf::analysis
