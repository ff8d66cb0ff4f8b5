// take_delta and add_delta: how counts of worker processes reach the page of the run's owner.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "engine_binding.h"
#include "metrics/delta.h"

namespace nb = nanobind;

namespace wf::bindings {
namespace {

nb::list TakeDelta() {
  // Leaked on purpose: a worker process has one for its whole life.
  static metrics::DeltaSource& source = *new metrics::DeltaSource(&metrics::DefaultRegistry());
  nb::list rows;
  for (const metrics::SeriesDelta& delta : source.Take()) {
    rows.append(nb::make_tuple(static_cast<int>(delta.spec.type), delta.spec.name, delta.spec.help,
                               delta.spec.label_names, delta.bounds, delta.labels, delta.value, delta.buckets));
  }
  return rows;
}

metrics::SeriesDelta FromRow(const nb::tuple& row) {
  metrics::SeriesDelta delta;
  const int type = nb::cast<int>(row[0]);
  if (type < 0 || type > static_cast<int>(metrics::Type::kHistogram)) throw nb::value_error("no type of a metric");
  delta.spec.type = static_cast<metrics::Type>(type);
  delta.spec.name = nb::cast<std::string>(row[1]);
  delta.spec.help = nb::cast<std::string>(row[2]);
  delta.spec.label_names = nb::cast<std::vector<std::string>>(row[3]);
  delta.bounds = nb::cast<std::vector<double>>(row[4]);
  delta.labels = nb::cast<std::vector<std::string>>(row[5]);
  delta.value = nb::cast<double>(row[6]);
  delta.buckets = nb::cast<std::vector<uint64_t>>(row[7]);
  return delta;
}

// The reason why part of it was dropped; empty when all was added.
std::string AddDelta(const nb::list& rows) {
  std::vector<metrics::SeriesDelta> delta;
  for (const nb::handle row : rows) delta.push_back(FromRow(nb::cast<nb::tuple>(row)));
  return metrics::AddDelta(delta, &metrics::DefaultRegistry()).message();
}

}  // namespace

void BindDelta(nb::module_& module) {
  module.def("take_delta", TakeDelta, "What this process counted since the last call, for add_delta elsewhere.");
  module.def("add_delta", AddDelta, "Adds what a worker process counted; returns why part of it was dropped, or \"\".");
}

}  // namespace wf::bindings
