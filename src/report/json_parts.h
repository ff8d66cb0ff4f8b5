// The parts that JSON documents share. Times are seconds, sizes bytes, ratios 0 to 1; what is absent is null.
//
// Every document is an object with "version" (1; raised when a field changes its meaning) and "kind" (the verb).
#ifndef WF_REPORT_JSON_PARTS_H_
#define WF_REPORT_JSON_PARTS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "analysis/finding.h"
#include "analysis/summary.h"
#include "profile/model.h"
#include "report/style.h"

namespace wf::report {

nlohmann::json Document(std::string_view kind);
// The document as text with a newline at its end. Bytes that are not UTF-8 are replaced.
std::string ToText(const nlohmann::json& document);

// {"value": 1.5, "quality": "measured"}, or null when absent; `scale` is multiplied in (1e-9 for seconds).
nlohmann::json FigureJson(const profile::Figure& figure, double scale = 1);
nlohmann::json RunJson(const profile::Run& run);
nlohmann::json FindingJson(const analysis::Finding& finding, Language language);

std::string_view QualityName(profile::Quality quality);

}  // namespace wf::report

#endif  // WF_REPORT_JSON_PARTS_H_
