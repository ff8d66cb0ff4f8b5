// `wf serve`: the store over HTTP, for Prometheus and for scripts.
//
//   /metrics                      gauges of the last finished run of each workflow (last_runs.h)
//   /api/v1/runs[?limit=N]        what `wf runs --json` prints
//   /api/v1/runs/<run>            what `wf show <run> --json` prints
//   /api/v1/runs/<run>/report     what `wf report <run> --json` prints
//   /healthz                      "ok"
#ifndef WF_APP_SERVE_H_
#define WF_APP_SERVE_H_

#include <functional>
#include <string>

#include "wf/status.h"

namespace wf::app {

struct ServeRequest {
  std::string store;
  std::string address = "127.0.0.1";
  int port = 8000;         // 0: any free one
  std::string token_file;  // needed for an address that others can reach
};

// Serves until SIGINT or SIGTERM, then returns OK. `ready` is told the URL and the store's folder once clients can
// connect. Errors: those of opening the store, of reading the token, and of net::Server (port in use).
// REQUIRES: called from the main thread while there is no other.
Status Serve(const ServeRequest& request,
             const std::function<void(const std::string& url, const std::string& folder)>& ready);

}  // namespace wf::app

#endif  // WF_APP_SERVE_H_
