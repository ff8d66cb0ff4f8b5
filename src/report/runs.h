// `wf runs`: one line a run, newest first.
#ifndef WF_REPORT_RUNS_H_
#define WF_REPORT_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profile/model.h"
#include "report/style.h"

namespace wf::report {

struct RunLine {
  profile::Run run;
  uint64_t nodes = 0;
  uint64_t failed_nodes = 0;
  int64_t wall_ns = 0;
};

// `store` is named when there are no runs.
std::string RunsText(const std::vector<RunLine>& runs, const std::string& store, const Style& style);
std::string RunsJson(const std::vector<RunLine>& runs, const std::string& store);

}  // namespace wf::report

#endif  // WF_REPORT_RUNS_H_
