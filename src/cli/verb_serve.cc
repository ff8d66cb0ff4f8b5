#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/serve.h"
#include "cli/command_line.h"
#include "cli/verb.h"

namespace wf::cli {

Action DeclareServe(Options options, Context& context) {
  auto request = std::make_shared<app::ServeRequest>();
  options.Number("--port", &request->port, "port to serve on; 0 takes a free one (8000)", 0, 65535);
  options.Text("--address", &request->address, "A", "address to serve on (127.0.0.1)");
  options.Text("--token-file", &request->token_file, "FILE", "file with the token that clients must send");
  AddStore(options, context);
  AddJson(options, context);
  return [request, &context]() -> Result<int> {
    request->store = context.store;
    WF_RETURN_IF_ERROR(app::Serve(*request, [&context](const std::string& url, const std::string& folder) {
      if (context.json) {
        const nlohmann::json document = {{"version", 1}, {"kind", "serve"}, {"url", url}, {"store", folder}};
        Print(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
      } else {
        Print(fmt::format("serving {} at {} (/metrics, /api/v1/runs, /healthz); Ctrl-C ends it\n", folder, url));
      }
    }));
    return kDone;
  };
}

}  // namespace wf::cli
