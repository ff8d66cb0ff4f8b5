// Registry: the families of one /metrics page. The public face of this room, with family.h and exposition.h.
//
// It owns its families and children; everything it hands out lives as long as it does. Any thread may call anything.
// Fork: the child of a fork keeps all families and children, with counters and histograms back at 0 and gauges as they
// were, so that nothing is counted by two processes. No lock is left held by a thread that does not exist there.
//
//   Registry registry;
//   auto rows = registry.AddCounter("rows", "Rows read.", {"table"});
//   if (!rows.ok()) return rows.status();
//   (*rows)->At({"users"}).Inc();
//   std::string page = Render(registry, Format::kText);
#ifndef WF_METRICS_REGISTRY_H_
#define WF_METRICS_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/collector.h"
#include "metrics/family.h"
#include "metrics/fork_guard.h"
#include "metrics/label_cap.h"
#include "metrics/registry_core.h"
#include "wf/status.h"

namespace wf::metrics {

struct RegistryOptions {
  size_t most_task_pairs = 500;                // see LabelCap
  size_t most_series_per_family = 100'000;     // further label sets share one child, "__other__"
  std::function<void(std::string_view)> warn;  // one sentence, without line feed; default: a line on stderr
};

class Registry final : private ForkAware {
 public:
  explicit Registry(RegistryOptions options = {});
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A new family, or the one that is there already when name, help, labels (and bounds) are the same: a module that is
  // loaded twice is no fault. InvalidArgument: a name or label that a page may not carry, or a name whose ending
  // ("_total", "_count", "_sum", "_bucket", "_created") promises another type. AlreadyExists: another family has the
  // name, or samples of it. A counter's name may be given with or without "_total". No labels: the one child is there
  // at 0 at once.
  Result<CounterFamily*> AddCounter(std::string_view name, std::string_view help,
                                    std::vector<std::string> label_names = {});
  Result<GaugeFamily*> AddGauge(std::string_view name, std::string_view help,
                                std::vector<std::string> label_names = {});
  // Without `bounds`: DefaultBounds() and those of AddBucketBounds. With: exactly these.
  Result<HistogramFamily*> AddHistogram(std::string_view name, std::string_view help,
                                        std::vector<std::string> label_names = {},
                                        std::optional<std::span<const double>> bounds = std::nullopt);

  // Further bounds for histograms without bounds of their own (each limit of a limits file is one). FailedPrecondition
  // once such a histogram exists: bounds stay what they are for the life of the process.
  Status AddBucketBounds(std::span<const double> bounds);

  // Adds values read at each page; see Collector. The families are checked like those above and take their names.
  // RemoveCollector waits for a reading under way, then frees the names; false when there is none with this number.
  Result<uint64_t> AddCollector(std::vector<FamilySpec> families, Collect collect);
  bool RemoveCollector(uint64_t number);

  // The limit on (workflow, task) pairs, one for all families of this page.
  LabelCap& task_cap() { return task_cap_; }
  // How often a look-up was sent to "__other__".
  double dropped_label_sets() const { return core_.dropped.Value(); }

  // One entry of the page, in order of registration: exactly one of the two is set.
  struct Part {
    const Family* family = nullptr;
    std::shared_ptr<Collector> collector;
  };
  std::vector<Part> Parts() const;

 private:
  struct Entry {
    std::unique_ptr<Family> family;
    std::shared_ptr<Collector> collector;
    uint64_t number = 0;  // of a collector
  };

  template <class Child>
  Result<FamilyOf<Child>*> Add(FamilySpec spec, Bounds bounds);
  Status Claim(const FamilySpec& spec);  // REQUIRES: core_.mutex held
  void Release(const FamilySpec& spec);
  void LockBeforeFork() override { core_.mutex.lock(); }
  void UnlockAfterFork() override { core_.mutex.unlock(); }
  void ResetInChild() override;

  mutable RegistryCore core_;
  LabelCap task_cap_;
  // Guarded by core_.mutex.
  std::vector<Entry> entries_;
  std::map<std::string, std::string, std::less<>> owner_of_;  // each sample name -> family
  std::vector<double> extra_bounds_;
  bool default_bounds_used_ = false;
  uint64_t last_number_ = 0;
};

// The registry of this process: what wf.metrics and the runs of this process count in. Never destroyed.
Registry& DefaultRegistry();

}  // namespace wf::metrics

#endif  // WF_METRICS_REGISTRY_H_
