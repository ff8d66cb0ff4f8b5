// ProcessCollector: the process_* families of a metrics page, read from /proc when the page is asked for.
//
// The standard names, and process_cpu_utilization_ratio: CPU used over CPU usable (affinity and quota, not the
// machine's number of CPUs) since a scrape at least a second ago. The label `worker` is the small stable index of a
// worker process and empty, which Prometheus takes for no label, for the process itself. CPU of a worker that died
// stays counted.
//
// Any thread may call anything; scrapes and changes exclude each other.
#ifndef WF_PROBE_PROCESS_COLLECTOR_H_
#define WF_PROBE_PROCESS_COLLECTOR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "metrics/registry.h"
#include "wf/status.h"

namespace wf::probe {

class ProcessCollector {
 public:
  // Adds the families to `registry`, which must outlive the collector; the destructor takes them off. AlreadyExists
  // when the registry has them already. `root` is prepended to /proc, for tests.
  static Result<std::unique_ptr<ProcessCollector>> Register(metrics::Registry* registry, const std::string& root = "");
  ~ProcessCollector();
  ProcessCollector(const ProcessCollector&) = delete;
  ProcessCollector& operator=(const ProcessCollector&) = delete;

  // A worker process; an index that comes again (a replacement) goes on counting where the old one ended.
  void AddWorker(int worker, int32_t pid);
  // Call it before the process is waited for, so that its last CPU seconds can still be read.
  void RemoveWorker(int worker);

 private:
  class State;
  ProcessCollector(metrics::Registry* registry, std::shared_ptr<State> state);

  metrics::Registry* const registry_;
  const std::shared_ptr<State> state_;
  uint64_t number_ = 0;
};

}  // namespace wf::probe

#endif  // WF_PROBE_PROCESS_COLLECTOR_H_
