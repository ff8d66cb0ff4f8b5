#include <memory>

#include "app/queries.h"
#include "cli/verb.h"
#include "report/logs.h"

namespace wf::cli {

Action DeclareLogs(Options options, Context& context) {
  auto request = std::make_shared<app::LogsRequest>();
  AddRun(options, &request->run);
  options.Text("--task", &request->task, "NAME", "only of this task");
  options.Number("--node", &request->node, "only of this node, by its number in wf show", 1);
  options.Choice("--stream", &request->stream, "STREAM", "stdout, stderr or log", {"stdout", "stderr", "log"});
  AddStore(options, context);
  AddJson(options, context);
  return [request, &context]() -> Result<int> {
    request->store = context.store;
    const Result<report::RunLogs> logs = app::Logs(*request);
    if (!logs.ok()) return logs.status();
    return PrintAs(
        context, [&](const report::Style& style) { return report::LogsText(*logs, style); },
        [&] { return report::LogsJson(*logs); });
  };
}

}  // namespace wf::cli
