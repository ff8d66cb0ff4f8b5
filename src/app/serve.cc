#include "app/serve.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "api/metrics_page.h"
#include "api/router.h"
#include "app/last_runs.h"
#include "app/queries.h"
#include "metrics/registry.h"
#include "net/server.h"
#include "report/show.h"
#include "store/store.h"

namespace wf::app {
namespace {

constexpr size_t kDefaultLimit = 100;

Result<std::string> ReadToken(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream stream(file);
  std::string token;
  if (!stream || !std::getline(stream, token)) {
    return Status(Code::kPermissionDenied, fmt::format("--token-file {}: cannot read a token from its first line: {}",
                                                       file, errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.empty())
    return Status(Code::kInvalidArgument, fmt::format("--token-file {}: its first line is empty", file));
  return token;
}

net::Response Json(std::string body) {
  net::Response response;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

int HttpStatusOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return 400;
    case Code::kNotFound: return 404;
    default: return 503;
  }
}

net::Response Problem(const Status& status) {
  const nlohmann::json document = {{"version", 1},
                                   {"error", {{"code", CodeName(status.code())}, {"message", status.message()}}}};
  net::Response response = Json(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  response.status = HttpStatusOf(status.code());
  return response;
}

// Of "limit=N"; anything else in the query is refused rather than ignored.
Result<size_t> LimitOf(const std::string& query) {
  if (query.empty()) return kDefaultLimit;
  size_t limit = 0;
  constexpr std::string_view kName = "limit=";
  const bool named = std::string_view(query).substr(0, kName.size()) == kName;
  const char* end = query.data() + query.size();
  if (!named || std::from_chars(query.data() + kName.size(), end, limit).ptr != end || query.size() == kName.size()) {
    return Status(Code::kInvalidArgument, "the only parameter is limit=N, a number");
  }
  return limit;
}

void AddRunRoutes(const std::string& folder, api::Router* router) {
  router->Get("/api/v1/runs", [folder](const net::Request& request, const api::PathValues&) {
    const Result<size_t> limit = LimitOf(request.query);
    if (!limit.ok()) return Problem(limit.status());
    ListRunsRequest list_request;
    list_request.store = folder;
    list_request.limit = *limit;
    const Result<RunList> list = ListRuns(list_request);
    return list.ok() ? Json(report::RunsJson(list->runs, list->folder)) : Problem(list.status());
  });
  router->Get("/api/v1/runs/{run}", [folder](const net::Request&, const api::PathValues& path) {
    const Result<profile::RunRecord> record = LoadRun(folder, path.at("run"));
    return record.ok() ? Json(report::ShowJson(*record, {})) : Problem(record.status());
  });
  router->Get("/api/v1/runs/{run}/report", [folder](const net::Request&, const api::PathValues& path) {
    const Result<report::RunReport> report = Report(folder, path.at("run"));
    return report.ok() ? Json(report::RunReportJson(*report, report::Language::kEnglish)) : Problem(report.status());
  });
}

}  // namespace

Status Serve(const ServeRequest& request,
             const std::function<void(const std::string& url, const std::string& folder)>& ready) {
  const Result<std::string> token = ReadToken(request.token_file);
  if (!token.ok()) return token.status();
  Result<std::unique_ptr<store::Store>> store = store::Store::Open(store::Locate(request.store), store::Access::kRead);
  if (!store.ok()) return store.status();
  const std::string folder = (*store)->folder().string();

  metrics::Registry registry;
  LastRuns last_runs(folder);
  WF_RETURN_IF_ERROR(last_runs.AddTo(&registry));
  api::Router router;
  api::AddMetricsRoutes(&router, &registry);
  AddRunRoutes(folder, &router);

  // Blocked before the first thread starts, so that only the wait below takes them.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  net::ServerOptions options;
  options.address = request.address;
  options.port = request.port;
  options.token = *token;
  Result<std::unique_ptr<net::Server>> server = net::Server::Start(std::move(options), &router);
  if (!server.ok()) return server.status();
  ready((*server)->url(), folder);
  int signal = 0;
  ::sigwait(&ending, &signal);
  (*server)->Stop();
  return Status();
}

}  // namespace wf::app
