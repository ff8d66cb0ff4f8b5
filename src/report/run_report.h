// `wf report`: the table of tasks, the bottleneck and why, what to try, what is absent and why.
#ifndef WF_REPORT_RUN_REPORT_H_
#define WF_REPORT_RUN_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/bottleneck.h"
#include "analysis/hot_spots.h"
#include "analysis/summary.h"
#include "profile/model.h"
#include "report/style.h"

namespace wf::report {

// A figure that no attempt of the run has, by id (analysis::AbsentFigures), and why; the reason may be empty.
struct AbsentFigure {
  std::string id;
  std::string reason;
};

struct RunReport {
  profile::Run run;
  analysis::RunSummary summary;
  analysis::Verdict verdict;
  std::vector<AbsentFigure> absent;
  std::optional<analysis::HotSpots> hot;  // none: no stacks
};

// The rows of the table are bounded; all of them with `all`.
std::string RunReportText(const RunReport& report, bool all, const Style& style);
std::string RunReportJson(const RunReport& report, Language language);

// The line that names a run, with a newline: id, workflow, state, wall time, executor.
std::string RunHeadline(const profile::Run& run, int64_t wall_ns, const Style& style);
Tone ToneOf(base::RunState state);

}  // namespace wf::report

#endif  // WF_REPORT_RUN_REPORT_H_
