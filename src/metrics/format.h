// The spelling of names, label values and numbers, shared by registration and exposition.
#ifndef WF_METRICS_FORMAT_H_
#define WF_METRICS_FORMAT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wf::metrics {

enum class Type : uint8_t { kCounter, kGauge, kHistogram };
std::string_view Name(Type type);  // "counter", "gauge", "histogram"

bool IsMetricName(std::string_view name);  // [a-zA-Z_:][a-zA-Z0-9_:]*
bool IsLabelName(std::string_view name);   // [a-zA-Z_][a-zA-Z0-9_]*, not starting with "__"

// `prefix_name`, or `name` when there is no prefix. The one rule behind the option namespace=.
std::string QualifiedName(std::string_view prefix, std::string_view name);

// True when a page may carry `text` as it is: well-formed UTF-8 without NUL.
bool IsPageText(std::string_view text);
// `text` with each byte that a page may not carry replaced by U+FFFD. One foreign byte would fail a whole scrape.
std::string ToPageText(std::string_view text);

// Shortest digits that read back as the same double; whole numbers below 2^53 without exponent or point;
// "NaN", "+Inf", "-Inf".
void AppendNumber(std::string* out, double value);
void AppendNumber(std::string* out, uint64_t value);
// The value of an `le` label: "1.0", "0.0025", "1e+06", "+Inf".
std::string BoundText(double bound);

// Backslash and line feed escaped; the double quote too where `quotes`.
void AppendEscaped(std::string* out, std::string_view text, bool quotes);
// `a="1",b="2"` without braces. REQUIRES: as many values as names.
std::string LabelText(std::span<const std::string> names, std::span<const std::string> values);

}  // namespace wf::metrics

#endif  // WF_METRICS_FORMAT_H_
