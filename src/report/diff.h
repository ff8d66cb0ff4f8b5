// `wf diff A B`: before, after and ratio, for the whole run and each task.
#ifndef WF_REPORT_DIFF_H_
#define WF_REPORT_DIFF_H_

#include <string>

#include "analysis/diff.h"
#include "profile/model.h"
#include "report/style.h"

namespace wf::report {

struct RunDiff {
  profile::Run before;
  profile::Run after;
  analysis::Diff diff;
};

std::string DiffText(const RunDiff& diff, const Style& style);
std::string DiffJson(const RunDiff& diff);

}  // namespace wf::report

#endif  // WF_REPORT_DIFF_H_
