#include "metrics/delta.h"

#include <cmath>

namespace wf::metrics {
namespace {

std::string KeyOf(const FamilySpec& spec, const std::string& label_text) { return spec.name + '{' + label_text; }

std::vector<std::string_view> Views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

// Fills the change of one child against what was seen of it. False: nothing changed.
bool Change(const Counter& counter, double* seen, std::vector<uint64_t>* /*cumulative*/, SeriesDelta* delta) {
  const double value = counter.Value();
  delta->value = value - *seen;
  *seen = value;
  return delta->value > 0;
}

bool Change(const Gauge& gauge, double* seen, std::vector<uint64_t>* /*cumulative*/, SeriesDelta* delta) {
  if (!gauge.present()) return false;
  delta->value = gauge.Value();
  const bool same = delta->value == *seen || (std::isnan(delta->value) && std::isnan(*seen));
  *seen = delta->value;
  return !same;
}

bool Change(const Histogram& histogram, double* seen, std::vector<uint64_t>* cumulative, SeriesDelta* delta) {
  const HistogramSnapshot now = histogram.Snapshot();
  cumulative->resize(now.cumulative.size());
  if (now.count() == cumulative->back()) return false;
  uint64_t below = 0;
  for (size_t i = 0; i < now.cumulative.size(); ++i) {
    const uint64_t up_to_here = now.cumulative[i] - (*cumulative)[i];
    delta->buckets.push_back(up_to_here - below);
    below = up_to_here;
  }
  delta->bounds = histogram.bounds();
  delta->value = now.sum - *seen;
  *seen = now.sum;
  *cumulative = now.cumulative;
  return true;
}

Status AddOne(const SeriesDelta& delta, Registry* registry) {
  const std::vector<std::string_view> labels = Views(delta.labels);
  if (labels.size() != delta.spec.label_names.size()) {
    return {Code::kInvalidArgument, "a worker sent " + delta.spec.name + " with the wrong number of labels"};
  }
  switch (delta.spec.type) {
    case Type::kCounter: {
      auto family = registry->AddCounter(delta.spec.name, delta.spec.help, delta.spec.label_names);
      if (!family.ok()) return family.status();
      (*family)->At(labels).Add(delta.value);
      return {};
    }
    case Type::kGauge: {
      auto family = registry->AddGauge(delta.spec.name, delta.spec.help, delta.spec.label_names);
      if (!family.ok()) return family.status();
      (*family)->At(labels).Set(delta.value);
      return {};
    }
    case Type::kHistogram: {
      auto family = registry->AddHistogram(delta.spec.name, delta.spec.help, delta.spec.label_names, delta.bounds);
      if (!family.ok()) return family.status();
      if (!(*family)->At(labels).Merge(delta.buckets, delta.value)) {
        return {Code::kInvalidArgument, "a worker sent " + delta.spec.name + " with other buckets"};
      }
      return {};
    }
  }
  return {};
}

}  // namespace

template <class Child>
void DeltaSource::TakeFamily(const FamilyOf<Child>& family, std::vector<SeriesDelta>* out) {
  const auto children = family.Children();
  for (const auto& series : *children) {
    Seen& seen = seen_[KeyOf(family.spec(), series->label_text)];
    SeriesDelta delta;
    if (!Change(series->child, &seen.value, &seen.cumulative, &delta)) continue;
    delta.spec = family.spec();
    delta.labels = series->values;
    out->push_back(std::move(delta));
  }
}

std::vector<SeriesDelta> DeltaSource::Take() {
  std::vector<SeriesDelta> out;
  for (const Registry::Part& part : registry_->Parts()) {
    if (part.family == nullptr) continue;
    switch (part.family->spec().type) {
      case Type::kCounter: TakeFamily(static_cast<const CounterFamily&>(*part.family), &out); break;
      case Type::kGauge: TakeFamily(static_cast<const GaugeFamily&>(*part.family), &out); break;
      case Type::kHistogram: TakeFamily(static_cast<const HistogramFamily&>(*part.family), &out); break;
    }
  }
  return out;
}

Status AddDelta(const std::vector<SeriesDelta>& delta, Registry* registry) {
  Status first;
  for (const SeriesDelta& one : delta) {
    Status status = AddOne(one, registry);
    if (first.ok() && !status.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace wf::metrics
