// The hottest lines of each task, from the stacks of a run or recording.
#ifndef WF_REPORT_HOT_SPOTS_H_
#define WF_REPORT_HOT_SPOTS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/hot_spots.h"
#include "report/style.h"

namespace wf::report {

// A table under a title that says how many samples it rests on; empty when there are none. The heaviest tasks with
// their first lines; all that there is with `all`.
std::string HotSpotsText(const analysis::HotSpots& hot, bool all, const Style& style);
nlohmann::json HotSpotsJson(const analysis::HotSpots& hot);

}  // namespace wf::report

#endif  // WF_REPORT_HOT_SPOTS_H_
