// The page: what a registry holds, as Prometheus text 0.0.4 or OpenMetrics 1.0, or as values.
//
// Writing a page stops nobody: children are counted up meanwhile, each one is read as a state that existed. Any thread
// may call these at any time; a page that is read later never shows less for a counter or a bucket.
#ifndef WF_METRICS_EXPOSITION_H_
#define WF_METRICS_EXPOSITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/registry.h"

namespace wf::metrics {

enum class Format : uint8_t { kText, kOpenMetrics };

// The Content-Type of a page, version and charset included.
std::string_view ContentType(Format format);

// Appends the whole page to `out`; in OpenMetrics it ends with "# EOF".
void RenderTo(const Registry& registry, Format format, std::string* out);
std::string Render(const Registry& registry, Format format);

struct Sample {
  std::string suffix;  // "", "_total", "_bucket", "_sum", "_count"
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};
struct FamilySnapshot {
  FamilySpec spec;
  std::vector<Sample> samples;
};
// The same content for readers that want values; in the order of the page.
std::vector<FamilySnapshot> Snapshot(const Registry& registry);

}  // namespace wf::metrics

#endif  // WF_METRICS_EXPOSITION_H_
