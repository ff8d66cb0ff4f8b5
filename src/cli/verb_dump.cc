#include <memory>

#include "app/dump.h"
#include "base/say.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace wf::cli {
Action DeclareDump(Options options, Context& context) {
  struct Given {
    std::string pid;
    app::DumpRequest request;
    bool nonblocking = false;
  };
  auto given = std::make_shared<Given>();
  options.Text("--pid,-p", &given->pid, "PID", "the process to look at", Need::kRequired);
  options.Flag("--subprocesses,-s", &given->request.subprocesses, "the Python processes below it too");
  options.Flag("--full-filenames", &given->request.full_filenames, "whole paths instead of those from the package on");
  options.Flag("--nonblocking", &given->nonblocking, "accepted as py-spy has it; we never pause the process");
  options.Flag("--json,-j", &context.json, "print one JSON document with a \"version\" field");
  return [given, &context]() -> Result<int> {
    const Result<int32_t> pid = ParsePid(given->pid);
    if (!pid.ok()) return pid.status();
    given->request.pid = *pid;
    const Result<report::Dump> dump = app::DumpStacks(given->request);
    if (!dump.ok()) return dump.status();
    for (const std::string& reason : dump->skipped) base::Say("left out: " + reason);
    return PrintAs(
        context, [&](const report::Style& style) { return report::DumpText(*dump, style); },
        [&] { return report::DumpJson(*dump); });
  };
}

}  // namespace wf::cli
