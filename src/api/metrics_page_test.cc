#include "api/metrics_page.h"

#include <gmock/gmock.h>

namespace wf::api {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

class MetricsPageTest : public ::testing::Test {
 protected:
  MetricsPageTest() {
    (*registry_.AddCounter("rows", "Rows."))->At({}).Inc();
    AddMetricsRoutes(&router_, &registry_);
  }
  net::Response Ask(const std::string& path, const std::string& accept) {
    net::Request request;
    request.method = "GET";
    request.path = path;
    if (!accept.empty()) request.headers.Add("Accept", accept);
    return router_.Handle(request);
  }
  metrics::Registry registry_;
  Router router_;
};

TEST_F(MetricsPageTest, AcceptDecidesOnTheFormat) {
  for (const char* accept : {"", "*/*", "text/html", "application/openmetrics-text;q=0.3, text/plain;q=0.4"}) {
    const net::Response response = Ask("/metrics", accept);
    EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8") << accept;
    EXPECT_THAT(response.body, EndsWith("rows_total 1\n"));
    EXPECT_EQ(response.headers.Get("Vary"), "Accept");
  }
  const net::Response response = Ask("/metrics", "application/openmetrics-text; version=1.0.0");
  EXPECT_THAT(response.content_type, StartsWith("application/openmetrics-text"));
  EXPECT_THAT(response.body, EndsWith("# EOF\n"));
}

TEST_F(MetricsPageTest, HealthIsOk) { EXPECT_EQ(Ask("/healthz", "").body, "ok\n"); }

}  // namespace
}  // namespace wf::api
