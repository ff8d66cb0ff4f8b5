// `wf clean`: which runs were (or would be) removed, and what that frees.
#ifndef WF_REPORT_CLEAN_H_
#define WF_REPORT_CLEAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profile/model.h"
#include "report/style.h"

namespace wf::report {

struct CleanedRun {
  profile::Run run;
  uint64_t bytes = 0;
  std::string reason;   // "older than the limit", "beyond the size limit", "not among the newest"
  std::string failure;  // why it could not be removed; empty when it was
};

struct Cleaning {
  bool dry_run = false;
  std::vector<CleanedRun> runs;
  uint64_t kept = 0;
  uint64_t kept_bytes = 0;
};

std::string CleanText(const Cleaning& cleaning, const Style& style);
std::string CleanJson(const Cleaning& cleaning);

}  // namespace wf::report

#endif  // WF_REPORT_CLEAN_H_
