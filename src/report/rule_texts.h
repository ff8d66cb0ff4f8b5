// Findings in words. The only place with prose about rules; one table, two languages.
#ifndef WF_REPORT_RULE_TEXTS_H_
#define WF_REPORT_RULE_TEXTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "analysis/finding.h"
#include "report/style.h"

namespace wf::report {

struct RuleText {
  std::string why;                  // one or two sentences with the figures in them
  std::vector<std::string> advice;  // what to try, the most promising first; may be empty
};

// A rule without a text (from a newer version) is shown as its id with its figures.
RuleText TextOf(const analysis::Finding& finding, Language language);

// Fills a template: "{cores_used}" is a number, "{wall_ns:time}", "{x:bytes}", "{x:rate}" (bytes per second),
// "{x:percent}", "{x:count}", "{x:cores}" are figures in units; "{absent}" lists what was missing. A part in [brackets]
// is left out when a figure in it is absent. Exposed for its test.
std::string Fill(std::string_view text, const analysis::Finding& finding, Language language);

}  // namespace wf::report

#endif  // WF_REPORT_RULE_TEXTS_H_
