// Collapsed stacks (Brendan Gregg's stackcollapse format; py-spy's "raw"): one line per stack,
//
//   outermost;caller;innermost 123
//
// The format has no escapes. ";" in a frame is written \x3b, and what would break the line as Visible() does.
//
// The number counts periods of the sampler, so that it means the same as in py-spy and needs no unit. The weights are
// nanoseconds; what rounding takes from one line goes to the next, so that the sum is right to within one period.
#include <cmath>
#include <map>

#include "profile/escape.h"
#include "profile/export.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

constexpr double kDefaultRateHz = 1'000;

std::string Escaped(std::string_view label) {
  std::string out;
  for (const char c : Visible(label)) {
    if (c == ';') {
      out += "\\x3b";
    } else {
      out += c;
    }
  }
  // A reader may trim a line: a frame of nothing but spaces would vanish.
  return out.find_first_not_of(' ') == std::string::npos ? "<unnamed>" : out;
}

std::string LineOf(const StackView& view, const std::vector<std::string>& labels, uint32_t node) {
  std::string line;
  for (const uint32_t frame : view.PathTo(node)) {
    if (!line.empty()) line += ';';
    line += labels[frame];
  }
  return line.empty() ? "<no stack>" : line;
}

}  // namespace

void WriteCollapsed(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  StackView view(profile, options);
  const std::vector<FoldedWeight> weights = view.Fold();
  std::vector<std::string> labels;
  for (const ShownFrame& frame : view.frames()) labels.push_back(Escaped(frame.label));
  // Two frames may have one label (short names, no line numbers): their lines are one.
  std::map<std::string, int64_t> lines;
  for (uint32_t node = 0; node < view.node_count(); ++node) {
    if (weights[node].self_ns > 0) lines[LineOf(view, labels, node)] += weights[node].self_ns;
  }
  const double rate_hz = profile.meta.rate_hz > 0 ? profile.meta.rate_hz : kDefaultRateHz;
  double rest = 0;
  for (const auto& [line, weight_ns] : lines) {
    rest += static_cast<double>(weight_ns) * rate_hz / 1e9;
    const auto count = std::llround(rest);
    rest -= static_cast<double>(count);
    if (count > 0) out << line << ' ' << count << '\n';
  }
}

}  // namespace wf::profile
