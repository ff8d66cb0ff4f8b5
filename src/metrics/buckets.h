// Bounds: the finite upper bounds of a histogram's buckets, ascending; the bucket +Inf follows without being listed.
// Fixed for the life of a histogram and shared by all children of its family.
#ifndef WF_METRICS_BUCKETS_H_
#define WF_METRICS_BUCKETS_H_

#include <memory>
#include <span>
#include <vector>

#include "wf/status.h"

namespace wf::metrics {

using Bounds = std::shared_ptr<const std::vector<double>>;

// 1 ms to 8 h in 25 steps, made for tasks: seconds, and rough per step on purpose (exact quantiles come from the
// store).
std::span<const double> DefaultBounds();

// `values` and `extra` as one ascending list without doubles. A trailing +Inf is allowed and dropped.
// InvalidArgument for NaN, -Inf, an empty list, or more than 1,000 bounds.
Result<Bounds> MakeBounds(std::span<const double> values, std::span<const double> extra = {});

}  // namespace wf::metrics

#endif  // WF_METRICS_BUCKETS_H_
