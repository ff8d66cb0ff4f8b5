#include <memory>

#include "app/queries.h"
#include "cli/verb.h"
#include "report/graph.h"

namespace wf::cli {

Action DeclareGraph(Options options, Context& context) {
  struct Given {
    std::string run;
    std::string format = "text";
    report::GraphOptions graph;
  };
  auto given = std::make_shared<Given>();
  AddRun(options, &given->run);
  options.Choice("--format,-f", &given->format, "FORMAT", "text, dot or mermaid (text)", {"text", "dot", "mermaid"});
  options.Flag("--nodes", &given->graph.nodes, "every node for itself instead of one box a task");
  options.Flag("--all", &given->graph.all, "no bound on the number of boxes");
  AddStore(options, context);
  AddJson(options, context);
  return [given, &context]() -> Result<int> {
    const Result<profile::RunRecord> record = app::LoadRun(context.store, given->run);
    if (!record.ok()) return record.status();
    report::GraphOptions graph = given->graph;
    if (given->format == "dot") graph.format = report::GraphFormat::kDot;
    if (given->format == "mermaid") graph.format = report::GraphFormat::kMermaid;
    if (context.json) graph.format = report::GraphFormat::kJson;
    return PrintAs(
        context, [&](const report::Style& style) { return report::GraphText(*record, graph, style); },
        [&] { return report::GraphText(*record, graph, {}); });
  };
}

}  // namespace wf::cli
