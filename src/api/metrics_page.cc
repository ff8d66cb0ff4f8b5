#include "api/metrics_page.h"

#include <array>
#include <atomic>
#include <memory>

#include "metrics/exposition.h"
#include "net/negotiate.h"

namespace wf::api {
namespace {

metrics::Format FormatFor(const net::Request& request) {
  constexpr std::array<net::MediaType, 2> kOffers = {
      {{"text/plain", "0.0.4"}, {"application/openmetrics-text", "1.0.0"}}};
  return net::BestMedia(request.headers.Get("Accept"), kOffers) == 1u ? metrics::Format::kOpenMetrics
                                                                      : metrics::Format::kText;
}

}  // namespace

void AddMetricsRoutes(Router* router, const metrics::Registry* registry) {
  auto last_size = std::make_shared<std::atomic<size_t>>(0);  // so that a page is allocated once
  router->Get("/metrics", [registry, last_size](const net::Request& request, const PathValues&) {
    const metrics::Format format = FormatFor(request);
    net::Response response;
    response.content_type = metrics::ContentType(format);
    response.headers.Add("Vary", "Accept");
    response.headers.Add("Cache-Control", "no-store");
    response.body.reserve(*last_size + *last_size / 8);
    metrics::RenderTo(*registry, format, &response.body);
    *last_size = response.body.size();
    return response;
  });
  router->Get("/healthz", [](const net::Request&, const PathValues&) { return net::Response::Text(200, "ok"); });
}

}  // namespace wf::api
