#include "api/router.h"

#include <algorithm>
#include <optional>

namespace wf::api {
namespace {

// Takes the first segment, without its slash, off `*path`. REQUIRES: it starts with '/'.
std::string_view TakeSegment(std::string_view* path) {
  path->remove_prefix(1);
  const size_t slash = std::min(path->find('/'), path->size());
  const std::string_view segment = path->substr(0, slash);
  path->remove_prefix(slash);
  return segment;
}

std::optional<PathValues> Match(std::string_view pattern, std::string_view path) {
  PathValues values;
  while (pattern.starts_with('/') && path.starts_with('/')) {
    const std::string_view wanted = TakeSegment(&pattern);
    const std::string_view segment = TakeSegment(&path);
    if (wanted.starts_with('{') && wanted.ends_with('}') && !segment.empty()) {
      values.emplace(wanted.substr(1, wanted.size() - 2), segment);
    } else if (wanted != segment) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return values;
}

}  // namespace

void Router::Add(std::string_view method, std::string_view pattern, Route route) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.pattern == pattern; });
  if (entry == entries_.end()) entry = entries_.insert(entries_.end(), Entry{std::string(pattern), {}});
  entry->by_method.insert_or_assign(std::string(method), std::move(route));
}

std::string Router::Allow(const Entry& entry) {
  std::string allow;
  for (const auto& [method, route] : entry.by_method) {
    allow += method == "GET" ? "GET, HEAD, " : method + ", ";
  }
  return allow + "OPTIONS";
}

net::Response Router::NotFound() const {
  std::string sentence = "there is no such page here";
  for (size_t i = 0; i < entries_.size(); ++i) sentence += (i == 0 ? "; there are " : ", ") + entries_[i].pattern;
  return net::Response::Text(404, sentence);
}

net::Response Router::Handle(const net::Request& request) {
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  for (const Entry& entry : entries_) {
    const std::optional<PathValues> values = Match(entry.pattern, request.path);
    if (!values.has_value()) continue;
    if (const auto route = entry.by_method.find(method); route != entry.by_method.end()) {
      return route->second(request, *values);
    }
    net::Response response =
        method == "OPTIONS" ? net::Response() : net::Response::Text(405, "this page takes " + Allow(entry));
    if (method == "OPTIONS") response.status = 204;
    response.headers.Add("Allow", Allow(entry));
    return response;
  }
  if (method == "OPTIONS" && request.path == "*") {
    net::Response response;
    response.status = 204;
    response.headers.Add("Allow", "GET, HEAD, OPTIONS");
    return response;
  }
  return NotFound();
}

}  // namespace wf::api
