// `wf show RUN`: the facts of a run, what failed with the user's traceback first, what was skipped and because of whom,
// and its nodes.
#ifndef WF_REPORT_SHOW_H_
#define WF_REPORT_SHOW_H_

#include <string>

#include "profile/run_record.h"
#include "report/style.h"

namespace wf::report {

struct ShowOptions {
  bool all = false;  // every failure and node instead of the first ones
};

std::string ShowText(const profile::RunRecord& record, const ShowOptions& options, const Style& style);
std::string ShowJson(const profile::RunRecord& record, const ShowOptions& options);

// The newest attempt at each node (by node index); nullptr where there was none.
std::vector<const profile::Attempt*> LastAttempts(const profile::RunRecord& record);
// "train[3]"; "node 7" when the record does not say which task it is of.
std::string NameOfNode(const profile::RunRecord& record, uint64_t node);

// How many nodes and failures are shown without --all.
inline constexpr size_t kShownNodes = 50;
inline constexpr size_t kShownFailures = 10;

}  // namespace wf::report

#endif  // WF_REPORT_SHOW_H_
