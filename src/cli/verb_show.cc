#include <memory>

#include "app/queries.h"
#include "cli/verb.h"
#include "report/show.h"

namespace wf::cli {

Action DeclareShow(Options options, Context& context) {
  struct Given {
    std::string run;
    report::ShowOptions show;
  };
  auto given = std::make_shared<Given>();
  AddRun(options, &given->run, Need::kRequired);
  options.Flag("--all", &given->show.all, "every failure and node instead of the first ones");
  AddStore(options, context);
  AddJson(options, context);
  return [given, &context]() -> Result<int> {
    const Result<profile::RunRecord> record = app::LoadRun(context.store, given->run);
    if (!record.ok()) return record.status();
    return PrintAs(
        context, [&](const report::Style& style) { return report::ShowText(*record, given->show, style); },
        [&] { return report::ShowJson(*record, given->show); });
  };
}

}  // namespace wf::cli
