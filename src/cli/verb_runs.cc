#include <memory>

#include "app/queries.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "report/runs.h"

namespace wf::cli {
namespace {

struct RunsOptions {
  app::ListRunsRequest request;
  std::string newer_than;
};

Result<int> Act(RunsOptions& options, const Context& context) {
  options.request.store = context.store;
  if (!options.newer_than.empty()) {
    const Result<int64_t> age = ParseDuration(options.newer_than);
    if (!age.ok()) return age.status().WithContext("--newer-than");
    options.request.newer_than_ns = *age;
  }
  const Result<app::RunList> list = app::ListRuns(options.request);
  if (!list.ok()) return list.status();
  return PrintAs(
      context, [&](const report::Style& style) { return report::RunsText(list->runs, list->folder, style); },
      [&] { return report::RunsJson(list->runs, list->folder); });
}

}  // namespace

Action DeclareRuns(Options options, Context& context) {
  auto given = std::make_shared<RunsOptions>();
  given->request.limit = 50;
  options.Text("--workflow", &given->request.workflow, "NAME", "only runs of this workflow");
  options.Choice("--state", &given->request.state, "STATE", "only runs in this state",
                 {"running", "success", "failed", "cancelled", "lost"});
  options.Text("--newer-than", &given->newer_than, "DURATION", "only runs begun within this time (24h, 7d)");
  options.Number("--limit,-n", &given->request.limit, "at most so many; 0 for all (50)");
  AddStore(options, context);
  AddJson(options, context);
  return [given, &context] { return Act(*given, context); };
}

}  // namespace wf::cli
