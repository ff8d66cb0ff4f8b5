#include "metrics/buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace wf::metrics {
namespace {

constexpr size_t kMostBounds = 1000;
constexpr std::array<double, 25> kDefault = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,  0.1,  0.25, 0.5,
                                             1,     2.5,    5,     10,   30,    60,    120,  300,  600,
                                             1200,  1800,   2700,  3600, 7200,  14400, 28800};

}  // namespace

std::span<const double> DefaultBounds() { return kDefault; }

Result<Bounds> MakeBounds(std::span<const double> values, std::span<const double> extra) {
  std::vector<double> all(values.begin(), values.end());
  all.insert(all.end(), extra.begin(), extra.end());
  std::erase_if(all, [](double bound) { return std::isinf(bound) && bound > 0; });
  for (double bound : all) {
    if (!std::isfinite(bound)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("a histogram bucket bound must be a finite number, not {}; remove it", bound));
    }
  }
  if (all.empty()) return Status(Code::kInvalidArgument, "a histogram needs at least one finite bucket bound");
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > kMostBounds) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a histogram may have at most {} bucket bounds, not {}", kMostBounds, all.size()));
  }
  return Bounds(std::make_shared<const std::vector<double>>(std::move(all)));
}

}  // namespace wf::metrics
