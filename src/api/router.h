// Router: which function answers which method and path. Marshalling only: it opens no socket.
//
// A pattern is a path; a segment in braces takes any one segment: "/api/runs/{id}". Routes are added before the server
// starts and then only read, so Handle may run in several threads. It answers by itself: an unknown path with 404 and
// the paths there are, a known path under another method with 405 and Allow, OPTIONS with 204 and Allow, HEAD through
// the route of GET (net drops the body).
//
//   Router router;
//   router.Get("/healthz", [](const net::Request&, const PathValues&) { return net::Response::Text(200, "ok"); });
//   router.Get("/api/runs/{id}", [store](const net::Request&, const PathValues& path) { return RunPage(store,
//   path.at("id")); });
#ifndef WF_API_ROUTER_H_
#define WF_API_ROUTER_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace wf::api {

using PathValues = std::map<std::string, std::string, std::less<>>;  // "id" -> the segment that stood there
using Route = std::function<net::Response(const net::Request&, const PathValues&)>;

class Router : public net::Handler {
 public:
  // A later route for the same method and pattern replaces the earlier one; among patterns that match, the first added
  // wins.
  void Add(std::string_view method, std::string_view pattern, Route route);
  void Get(std::string_view pattern, Route route) { Add("GET", pattern, std::move(route)); }

  net::Response Handle(const net::Request& request) override;

 private:
  struct Entry {
    std::string pattern;
    std::map<std::string, Route, std::less<>> by_method;
  };

  net::Response NotFound() const;
  static std::string Allow(const Entry& entry);

  std::vector<Entry> entries_;
};

}  // namespace wf::api

#endif  // WF_API_ROUTER_H_
