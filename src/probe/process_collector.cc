#include "probe/process_collector.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "probe/machine.h"
#include "probe/process_figures.h"

namespace wf::probe {
namespace {

using metrics::CollectorSink;
using metrics::FamilySpec;
using metrics::Type;

enum Index : size_t { kCpu, kResident, kVirtual, kVirtualMax, kOpenFds, kMaxFds, kStart, kThreads, kUtilization };

// In the order of Index.
std::vector<FamilySpec> Families() {
  const std::vector<std::string> labels = {"worker"};
  return {
      {Type::kCounter, "process_cpu_seconds", "User and system CPU time of the process, in seconds.", labels},
      {Type::kGauge, "process_resident_memory_bytes", "Resident memory of the process.", labels},
      {Type::kGauge, "process_virtual_memory_bytes", "Virtual memory of the process.", labels},
      {Type::kGauge, "process_virtual_memory_max_bytes", "Most virtual memory that the process may have.", labels},
      {Type::kGauge, "process_open_fds", "Open file descriptors of the process.", labels},
      {Type::kGauge, "process_max_fds", "Most file descriptors that the process may open.", labels},
      {Type::kGauge, "process_start_time_seconds", "Start of the process, in seconds since the Unix epoch.", labels},
      {Type::kGauge, "process_threads", "Threads of the process.", labels},
      {Type::kGauge, "process_cpu_utilization_ratio",
       "CPU time used over CPU time usable (affinity and cgroup quota), 0 to 1, over the last second or longer.",
       labels},
  };
}

template <typename T>
void AddIfKnown(CollectorSink* sink, Index family, const std::optional<T>& value, std::string_view worker) {
  if (value) sink->Add(family, static_cast<double>(*value), {worker});
}

}  // namespace

class ProcessCollector::State {
 public:
  explicit State(std::string root) : root_(std::move(root)), usable_milli_(ReadMachine(root_).usable_cpus_milli) {}
  ~State() { delete tables_.load(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void AddWorker(int worker, int32_t pid) {
    Tables& tables = OfThisProcess();
    std::lock_guard lock(tables.mutex);
    Watched& watched = tables.workers[worker];
    Retire(&watched);
    watched.pid = pid;
    Look(&watched);
  }

  void RemoveWorker(int worker) {
    Tables& tables = OfThisProcess();
    std::lock_guard lock(tables.mutex);
    const auto at = tables.workers.find(worker);
    if (at != tables.workers.end()) Retire(&at->second);
  }

  void Collect(CollectorSink* sink) {
    Tables& tables = OfThisProcess();
    std::lock_guard lock(tables.mutex);
    Show(&tables.self, "", sink);
    for (auto& [worker, watched] : tables.workers) Show(&watched, std::to_string(worker), sink);
  }

 private:
  struct Watched {
    int32_t pid = 0;          // 0: ended
    int64_t start_ticks = 0;  // of the pid when first seen: tells a reused pid
    double retired_cpu = 0;   // of the processes that had this index before
    double cpu = 0;           // of this one, when last seen
    int64_t mark_ns = 0;      // for the ratio: where it is measured from
    double mark_cpu = 0;
    std::optional<double> ratio;
  };

  // What one process knows; a forked child starts with its own.
  struct Tables {
    std::mutex mutex;  // guards the rest
    Watched self;
    std::map<int, Watched> workers;
    const pid_t owner = getpid();

    Tables() { self.pid = owner; }
  };

  Tables& OfThisProcess() {
    Tables* tables = tables_.load();
    if (tables->owner == getpid()) return *tables;
    // The parent's are leaked: a thread that does not exist here may hold their lock.
    auto fresh = std::make_unique<Tables>();
    if (tables_.compare_exchange_strong(tables, fresh.get())) return *fresh.release();
    return *tables;
  }

  ProcessFigures Look(Watched* watched) {
    const ProcessFigures figures = ReadProcessFigures(watched->pid, root_);
    if (watched->start_ticks == 0) watched->start_ticks = figures.start_ticks;
    if (figures.start_ticks != watched->start_ticks) return {};
    if (figures.cpu_seconds) watched->cpu = std::max(watched->cpu, *figures.cpu_seconds);
    return figures;
  }

  void Retire(Watched* watched) {
    if (watched->pid == 0) return;
    Look(watched);
    const double retired = watched->retired_cpu + watched->cpu;
    *watched = Watched();
    watched->retired_cpu = retired;
  }

  void UpdateRatio(Watched* watched) {
    const int64_t now = base::MonotonicNs();
    if (watched->mark_ns != 0 && now - watched->mark_ns < 1'000'000'000) return;
    const double usable_seconds = static_cast<double>(now - watched->mark_ns) / 1e9 * usable_milli_ / 1000;
    if (watched->mark_ns != 0)
      watched->ratio = std::clamp((watched->cpu - watched->mark_cpu) / usable_seconds, 0.0, 1.0);
    watched->mark_ns = now;
    watched->mark_cpu = watched->cpu;
  }

  void Show(Watched* watched, const std::string& worker, CollectorSink* sink) {
    const ProcessFigures figures = watched->pid == 0 ? ProcessFigures() : Look(watched);
    sink->Add(kCpu, watched->retired_cpu + watched->cpu, {worker});
    if (!figures.alive) return;
    AddIfKnown(sink, kResident, figures.resident_bytes, worker);
    AddIfKnown(sink, kVirtual, figures.virtual_bytes, worker);
    AddIfKnown(sink, kVirtualMax, figures.virtual_max_bytes, worker);
    AddIfKnown(sink, kOpenFds, figures.open_fds, worker);
    AddIfKnown(sink, kMaxFds, figures.max_fds, worker);
    AddIfKnown(sink, kStart, figures.start_time_seconds, worker);
    AddIfKnown(sink, kThreads, figures.threads, worker);
    UpdateRatio(watched);
    AddIfKnown(sink, kUtilization, watched->ratio, worker);
  }

  const std::string root_;
  const int32_t usable_milli_;
  std::atomic<Tables*> tables_{new Tables};
};

ProcessCollector::ProcessCollector(metrics::Registry* registry, std::shared_ptr<State> state)
    : registry_(registry), state_(std::move(state)) {}

ProcessCollector::~ProcessCollector() {
  if (number_ != 0) registry_->RemoveCollector(number_);
}

Result<std::unique_ptr<ProcessCollector>> ProcessCollector::Register(metrics::Registry* registry,
                                                                     const std::string& root) {
  auto state = std::make_shared<State>(root);
  std::unique_ptr<ProcessCollector> collector(new ProcessCollector(registry, state));
  auto number = registry->AddCollector(Families(), [state](CollectorSink& sink) { state->Collect(&sink); });
  if (!number.ok()) return number.status();
  collector->number_ = *number;
  return collector;
}

void ProcessCollector::AddWorker(int worker, int32_t pid) { state_->AddWorker(worker, pid); }
void ProcessCollector::RemoveWorker(int worker) { state_->RemoveWorker(worker); }

}  // namespace wf::probe
