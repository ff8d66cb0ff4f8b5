#include "api/router.h"

#include <gmock/gmock.h>

namespace wf::api {
namespace {

using ::testing::HasSubstr;

net::Request Ask(const std::string& method, const std::string& path) {
  net::Request request;
  request.method = method;
  request.path = path;
  return request;
}

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    router_.Get("/metrics", [](const net::Request&, const PathValues&) { return net::Response::Text(200, "page"); });
    router_.Get("/runs/{id}/tasks/{task}", [](const net::Request&, const PathValues& path) {
      return net::Response::Text(200, path.at("id") + "-" + path.at("task"));
    });
    router_.Add("POST", "/metrics",
                [](const net::Request&, const PathValues&) { return net::Response::Text(200, "in"); });
  }
  Router router_;
};

TEST_F(RouterTest, FindsTheRouteByMethodAndPath) {
  EXPECT_EQ(router_.Handle(Ask("GET", "/metrics")).body, "page\n");
  EXPECT_EQ(router_.Handle(Ask("HEAD", "/metrics")).body, "page\n");
  EXPECT_EQ(router_.Handle(Ask("POST", "/metrics")).body, "in\n");
  EXPECT_EQ(router_.Handle(Ask("GET", "/runs/a/tasks/b c")).body, "a-b c\n");
}

TEST_F(RouterTest, UnknownPathIs404AndSaysWhatThereIs) {
  for (const char* path : {"/", "/nope", "/metrics/", "/runs//tasks/b", "/runs/a/tasks", "/runs/a/tasks/b/c", "*"}) {
    const net::Response response = router_.Handle(Ask("GET", path));
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(response.body, HasSubstr("/metrics"));
  }
}

TEST_F(RouterTest, OtherMethodOnAKnownPathIs405WithAllow) {
  const net::Response response = router_.Handle(Ask("DELETE", "/metrics"));
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.Get("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(router_.Handle(Ask("PATCH", "/runs/a/tasks/b")).headers.Get("Allow"), "GET, HEAD, OPTIONS");
}

TEST_F(RouterTest, OptionsListsTheMethods) {
  EXPECT_EQ(router_.Handle(Ask("OPTIONS", "/metrics")).status, 204);
  EXPECT_EQ(router_.Handle(Ask("OPTIONS", "/metrics")).headers.Get("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(router_.Handle(Ask("OPTIONS", "*")).status, 204);
  EXPECT_EQ(router_.Handle(Ask("OPTIONS", "/nope")).status, 404);
}

}  // namespace
}  // namespace wf::api
