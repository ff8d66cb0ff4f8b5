// The rules for names of families. Internal to this room.
#ifndef WF_METRICS_NAMES_H_
#define WF_METRICS_NAMES_H_

#include <string>
#include <vector>

#include "metrics/family.h"
#include "wf/status.h"

namespace wf::metrics {

// `spec` with "_total" taken off a counter's name and help made page text; InvalidArgument with the way out when name
// or labels cannot stand on a page.
Result<FamilySpec> CheckSpec(FamilySpec spec);

// Every name that samples of this family may have on any page; no two families may share one.
std::vector<std::string> SampleNames(const FamilySpec& spec);

}  // namespace wf::metrics

#endif  // WF_METRICS_NAMES_H_
