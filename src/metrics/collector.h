// Collector: values that are read when a page is asked for (process_* from /proc, sizes of pools).
//
// The function runs in the thread that scrapes, one call at a time, without any lock of the registry. It must not block
// for long: the whole page waits for it. It adds counters and gauges only, under the families it was registered with.
#ifndef WF_METRICS_COLLECTOR_H_
#define WF_METRICS_COLLECTOR_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/family.h"

namespace wf::metrics {

// One sample that a collector added.
struct CollectedSample {
  std::vector<std::string> values;
  double value = 0;
};

class CollectorSink {
 public:
  explicit CollectorSink(const std::vector<FamilySpec>& families) : families_(families), samples_(families.size()) {}

  // Adds a sample to the family with this index in the list given at registration. What is not known is not added.
  // A wrong index or number of label values adds nothing: a faulty collector costs its own sample, not the page.
  void Add(size_t family, double value, std::initializer_list<std::string_view> label_values = {});

  const std::vector<CollectedSample>& samples(size_t family) const { return samples_[family]; }

 private:
  const std::vector<FamilySpec>& families_;
  std::vector<std::vector<CollectedSample>> samples_;
};

using Collect = std::function<void(CollectorSink&)>;

class Collector {
 public:
  Collector(std::vector<FamilySpec> families, Collect collect)
      : families_(std::move(families)), collect_(std::move(collect)) {}

  const std::vector<FamilySpec>& families() const { return families_; }
  // The samples of one reading; none after Stop().
  CollectorSink Read();
  // Waits for a reading under way; afterwards the function is not called again and is destroyed.
  void Stop();
  void ResetAfterFork();

 private:
  const std::vector<FamilySpec> families_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  Collect collect_;  // guarded by mutex_
};

}  // namespace wf::metrics

#endif  // WF_METRICS_COLLECTOR_H_
