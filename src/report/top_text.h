// `wf top` without a screen: one picture as a table of text.
#ifndef WF_REPORT_TOP_TEXT_H_
#define WF_REPORT_TOP_TEXT_H_

#include <array>
#include <string>

#include "analysis/top_model.h"
#include "report/style.h"
#include "report/top_names.h"

namespace wf::report {

struct TopTextOptions {
  analysis::TopQuery query = {.most_rows = 20};
  // Shares of all the time instead of the last window.
  bool of_all_time = false;
};

// Two lines on how the figures came to be and on the threads, the table, and how many rows it leaves out.
std::string TopText(const analysis::TopModel& model, const TopTextOptions& options, TopNames& names,
                    const Style& style);

// Parts that the screen shows too.

// "%Own", "%Total", "OwnTime", "TotalTime", in the order of TopColumn.
const std::array<const char*, 4>& TopTitles();
// "12.3", in percent.
std::string TopShare(int64_t part_ns, int64_t basis_ns);
// "12.34s".
std::string TopSeconds(int64_t ns);
// "GIL 99 %, active 101 %, 3 threads (1 active)".
std::string TopThreadsLine(const analysis::TopModel& model, bool of_all_time = false);
// "100 % = 1.00 s of the clock", or "… of 3 threads".
std::string TopBasis(int64_t basis_ns, int64_t clock_ns);
// "active+gil", "active", "idle".
std::string TopState(const analysis::TopThread& thread);

}  // namespace wf::report

#endif  // WF_REPORT_TOP_TEXT_H_
