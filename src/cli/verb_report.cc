#include <memory>

#include "app/queries.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "report/run_report.h"

namespace wf::cli {

Action DeclareReport(Options options, Context& context) {
  struct Given {
    std::string run;
    bool all = false;
  };
  auto given = std::make_shared<Given>();
  AddRun(options, &given->run);
  options.Flag("--all", &given->all, "every task instead of the first ones");
  AddStore(options, context);
  AddLanguage(options, context);
  AddJson(options, context);
  return [given, &context]() -> Result<int> {
    const Result<report::RunReport> report = app::Report(context.store, given->run);
    if (!report.ok()) return report.status();
    return PrintAs(
        context, [&](const report::Style& style) { return report::RunReportText(*report, given->all, style); },
        [&] { return report::RunReportJson(*report, StyleOfOutput(context.language).language); });
  };
}

}  // namespace wf::cli
