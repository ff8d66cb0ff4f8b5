#include <memory>

#include "app/queries.h"
#include "cli/verb.h"
#include "report/diff.h"

namespace wf::cli {

Action DeclareDiff(Options options, Context& context) {
  struct Given {
    std::string before;
    std::string after;
  };
  auto given = std::make_shared<Given>();
  options.Text("before", &given->before, "RUN", "the run before the change: an id, last~1, tag:key=value",
               Need::kRequired);
  options.Text("after", &given->after, "RUN", "the run after it", Need::kRequired);
  AddStore(options, context);
  AddJson(options, context);
  return [given, &context]() -> Result<int> {
    const Result<report::RunDiff> diff = app::Diff(context.store, given->before, given->after);
    if (!diff.ok()) return diff.status();
    return PrintAs(
        context, [&](const report::Style& style) { return report::DiffText(*diff, style); },
        [&] { return report::DiffJson(*diff); });
  };
}

}  // namespace wf::cli
