// The routes every server of ours has: GET /metrics and GET /healthz.
#ifndef WF_API_METRICS_PAGE_H_
#define WF_API_METRICS_PAGE_H_

#include "api/router.h"
#include "metrics/registry.h"

namespace wf::api {

// /metrics answers in OpenMetrics when the Accept header gives it a higher q-value than Prometheus text, otherwise in
// text, also to a client that accepts neither (a browser). /healthz answers "ok" as long as the process answers at all.
// `registry` must outlive the router.
void AddMetricsRoutes(Router* router, const metrics::Registry* registry);

}  // namespace wf::api

#endif  // WF_API_METRICS_PAGE_H_
