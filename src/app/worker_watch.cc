#include "app/worker_watch.h"

#include <map>
#include <memory>
#include <mutex>

#include "metrics/registry.h"
#include "probe/process_collector.h"

namespace wf::app {
namespace {

struct Workers {
  std::mutex mutex;  // guards the rest
  std::unique_ptr<probe::ProcessCollector> collector;
  std::map<int, int32_t> pids;  // by number

  Status Ensure() {
    if (collector != nullptr) return {};
    auto made = probe::ProcessCollector::Register(&metrics::DefaultRegistry());
    if (made.ok()) collector = std::move(*made);
    return made.status();
  }

  int NumberOf(int32_t pid) const {
    for (const auto& [number, known] : pids) {
      if (known == pid) return number;
    }
    return -1;
  }
};

Workers& TheWorkers() {
  // Leaked on purpose: a scrape may still come while static objects are destroyed.
  static Workers& workers = *new Workers;
  return workers;
}

}  // namespace

Status ShowProcesses() {
  Workers& workers = TheWorkers();
  const std::lock_guard lock(workers.mutex);
  return workers.Ensure();
}

void WatchWorker(int32_t pid) {
  Workers& workers = TheWorkers();
  const std::lock_guard lock(workers.mutex);
  int number = 0;
  while (workers.pids.count(number) != 0) ++number;
  workers.pids[number] = pid;
  if (workers.Ensure().ok()) workers.collector->AddWorker(number, pid);
}

void UnwatchWorker(int32_t pid) {
  Workers& workers = TheWorkers();
  const std::lock_guard lock(workers.mutex);
  const int number = workers.NumberOf(pid);
  if (number < 0) return;
  workers.pids.erase(number);
  if (workers.collector != nullptr) workers.collector->RemoveWorker(number);
}

int WorkerNumber(int32_t pid) {
  Workers& workers = TheWorkers();
  const std::lock_guard lock(workers.mutex);
  return workers.NumberOf(pid);
}

}  // namespace wf::app
