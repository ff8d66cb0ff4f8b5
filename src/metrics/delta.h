// Deltas: what a worker process counted since it last told, to be added once to the page of the owner of the run.
//
// The worker calls TakeDelta with each result it sends; the owner calls AddDelta when the result arrives. So there are
// no files and no page per process, and a worker that dies keeps its share up to its last result. Counters and
// histograms are sent as differences; a gauge that changed is sent as its value, and the last writer wins.
//
// Threading: a DeltaSource is used by one thread at a time; counting goes on meanwhile. AddDelta may be called from any
// thread.
#ifndef WF_METRICS_DELTA_H_
#define WF_METRICS_DELTA_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "metrics/registry.h"

namespace wf::metrics {

// The change of one series.
struct SeriesDelta {
  FamilySpec spec;
  std::vector<double> bounds;       // finite bounds of a histogram
  std::vector<std::string> labels;  // values
  double value = 0;                 // counter: increase; gauge: value; histogram: increase of the sum
  std::vector<uint64_t> buckets;    // histogram: increase of each bucket, +Inf last, not cumulative
};

class DeltaSource {
 public:
  explicit DeltaSource(const Registry* registry) : registry_(registry) {}

  // What changed since the last call (or since the registry was empty). Collectors are read at a page only and have no
  // part in it.
  std::vector<SeriesDelta> Take();

 private:
  struct Seen {
    double value = 0;
    std::vector<uint64_t> cumulative;
  };

  template <class Child>
  void TakeFamily(const FamilyOf<Child>& family, std::vector<SeriesDelta>* out);

  const Registry* const registry_;
  std::map<std::string, Seen> seen_;  // by name and labels
};

// Adds it to `registry`, making families and children that are not there yet. A family that exists with another shape
// (type, labels, bounds) is left alone: its deltas are dropped, and the first such clash is returned.
Status AddDelta(const std::vector<SeriesDelta>& delta, Registry* registry);

}  // namespace wf::metrics

#endif  // WF_METRICS_DELTA_H_
