#include <memory>

#include "app/export.h"
#include "app/queries.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "report/run_report.h"

namespace wf::cli {
namespace {

// Of a run its tasks; of a recording, which has none, what was not waiting.
Status WriteFlameGraph(const report::RunReport& report, const std::string& file, const std::string& store) {
  app::ExportRequest request;
  request.store = store;
  request.run = report.run.id.ToString();
  request.format = "flamegraph";
  request.output = file;
  request.tasks = report.run.kind == profile::RunKind::kRun;
  if (!request.tasks) request.options.selection = profile::StackSelection::kActive;
  return app::ExportStacks(request).status();
}

}  // namespace

Action DeclareReport(Options options, Context& context) {
  struct Given {
    std::string run;
    bool all = false;
    std::string flame_graph;
  };
  auto given = std::make_shared<Given>();
  AddRun(options, &given->run);
  options.Flag("--all", &given->all, "every task instead of the first ones");
  options.Text("--flame-graph", &given->flame_graph, "FILE", "also write the flame graph of all tasks (SVG)");
  AddStore(options, context);
  AddLanguage(options, context);
  AddJson(options, context);
  return [given, &context]() -> Result<int> {
    const Result<report::RunReport> report = app::Report(context.store, given->run);
    if (!report.ok()) return report.status();
    if (!given->flame_graph.empty()) WF_RETURN_IF_ERROR(WriteFlameGraph(*report, given->flame_graph, context.store));
    return PrintAs(
        context, [&](const report::Style& style) { return report::RunReportText(*report, given->all, style); },
        [&] { return report::RunReportJson(*report, StyleOfOutput(context.language).language); });
  };
}

}  // namespace wf::cli
