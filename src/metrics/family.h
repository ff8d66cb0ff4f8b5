// Families: one metric name with its help, type and label names, and a child per combination of label values.
//
// A family belongs to its Registry and lives as long. Children are made at first use and kept, so a caller looks one up
// once and keeps it; counters and histograms are never removed (a falling sum reads as a restart), gauges may be.
// Any thread may call anything. A look-up costs some 100 ns (a hash and a mutex), an update of a kept child a few.
//
//   CounterFamily* rows = *registry.AddCounter("rows", "Rows read.", {"table"});
//   Counter& users = rows->At({"users"});
//   users.Inc();                              // rows_total{table="users"} 1
#ifndef WF_METRICS_FAMILY_H_
#define WF_METRICS_FAMILY_H_

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "metrics/counter.h"
#include "metrics/format.h"
#include "metrics/gauge.h"
#include "metrics/histogram.h"

namespace wf::metrics {

struct RegistryCore;

struct FamilySpec {
  Type type = Type::kGauge;
  std::string name;  // a counter's without "_total", which its samples carry
  std::string help;
  std::vector<std::string> label_names;

  bool operator==(const FamilySpec&) const = default;
};

using LabelValues = std::span<const std::string_view>;

class Family {
 public:
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const FamilySpec& spec() const { return spec_; }
  // The finite bucket bounds of a histogram; null otherwise.
  const Bounds& bounds() const { return bounds_; }
  virtual void ResetAfterFork() = 0;

 protected:
  Family(RegistryCore* core, FamilySpec spec, Bounds bounds)
      : core_(core), spec_(std::move(spec)), bounds_(std::move(bounds)) {}

  RegistryCore* const core_;
  const FamilySpec spec_;
  const Bounds bounds_;
};

// One child with its place on the page.
template <class Child>
struct Series {
  template <class... Args>
  explicit Series(std::vector<std::string> label_values, std::string text, Args&&... args)
      : values(std::move(label_values)), label_text(std::move(text)), child(std::forward<Args>(args)...) {}

  const std::vector<std::string> values;
  const std::string label_text;  // a="1",b="2"; rendered once
  Child child;
};

template <class Child>
class FamilyOf final : public Family {
 public:
  using List = std::vector<std::shared_ptr<Series<Child>>>;

  // REQUIRES: a registry's lock is not held. Called by Registry only.
  FamilyOf(RegistryCore* core, FamilySpec spec, Bounds bounds);

  // The child with these label values, in the order of the label names; made at 0 when new. Bytes that a page may not
  // carry become U+FFFD. Above the registry's limit of series per family: the child whose values are all "__other__".
  // REQUIRES: as many values as label names.
  std::shared_ptr<Child> With(LabelValues values);
  // The same as a reference, valid as long as the family; for a gauge until it is removed.
  Child& At(std::initializer_list<std::string_view> values) {
    return *With(LabelValues(values.begin(), values.size()));
  }
  Child& At(LabelValues values) { return *With(values); }

  // Takes a gauge's child off the page; false when there is none. Whoever holds it may still write to it, in vain.
  bool Remove(LabelValues values)
    requires std::is_same_v<Child, Gauge>;

  // The children in order of creation; a fixed list that later look-ups do not change. Keep it in a variable while
  // iterating: a range-for over the temporary would outlive it.
  std::shared_ptr<const List> Children() const;
  void ResetAfterFork() override;

 private:
  std::shared_ptr<Series<Child>> Make(LabelValues values) const;

  // Guarded by core_->mutex.
  std::unordered_map<std::string, std::shared_ptr<Series<Child>>> by_values_;
  List list_;
  mutable std::shared_ptr<const List> snapshot_;  // of list_; null when that has changed since
};

using CounterFamily = FamilyOf<Counter>;
using GaugeFamily = FamilyOf<Gauge>;
using HistogramFamily = FamilyOf<Histogram>;

extern template class FamilyOf<Counter>;
extern template class FamilyOf<Gauge>;
extern template class FamilyOf<Histogram>;

}  // namespace wf::metrics

#endif  // WF_METRICS_FAMILY_H_
