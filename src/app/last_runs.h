// LastRuns: what /metrics of `wf serve` shows of a store.
//
// Gauges of the last finished run of each workflow, and nothing that counts: runs are counted by the process that made
// them, on its own page; a counter here would count them a second time.
#ifndef WF_APP_LAST_RUNS_H_
#define WF_APP_LAST_RUNS_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/run_id.h"
#include "metrics/registry.h"
#include "profile/run_record.h"
#include "wf/status.h"

namespace wf::app {

// Reads the store anew for each page, and each finished run once. Must outlive the pages of the registry it was added
// to. Any thread may ask for pages.
class LastRuns {
 public:
  explicit LastRuns(std::string folder) : folder_(std::move(folder)) {}

  Status AddTo(metrics::Registry* registry);

 private:
  struct TaskGauges {
    std::string task;
    double last_duration_s = -1;    // of the attempt that ended last; negative: none ended
    double memory_peak_bytes = -1;  // the highest of its attempts; negative: not measured
  };
  using RunGauges = std::vector<TaskGauges>;

  static RunGauges GaugesOf(const profile::RunRecord& record);
  void Collect(metrics::CollectorSink& sink);

  const std::string folder_;
  std::mutex mutex_;
  std::map<base::RunId, RunGauges> known_;  // of the runs on the last page; guarded by mutex_
};

}  // namespace wf::app

#endif  // WF_APP_LAST_RUNS_H_
