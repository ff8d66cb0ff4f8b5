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
    int locals = 0;
  };
  auto given = std::make_shared<Given>();
  options.Text("--pid,-p", &given->pid, "PID", "the process to look at", Need::kRequired);
  options.Flag("--subprocesses,-s", &given->request.subprocesses, "the Python processes below it too");
  options.Flag("--full-filenames", &given->request.full_filenames, "whole paths instead of those from the package on");
  options.Count("--locals,-l", &given->locals,
                "local variables of each frame; twice (-ll): longer ones, and what looks like a secret too");
  options.Flag("--async", &given->request.tasks, "the asyncio tasks of each thread, each with what it awaits");
  options.Flag("--source", &given->request.source, "the line of source below each frame, where it can be read");
  options.Flag("--blocking", &given->request.blocking, "pause the process while it is read, through ptrace");
  options.Flag("--nonblocking", &given->nonblocking, "do not pause the process: what is done anyway");
  options.Flag("--json,-j", &context.json, "print a JSON array of threads with py-spy's keys and more");
  return [given, &context]() -> Result<int> {
    const Result<int32_t> pid = ParsePid(given->pid);
    if (!pid.ok()) return pid.status();
    given->request.pid = *pid;
    if (given->request.blocking && given->nonblocking) {
      return Status(Code::kInvalidArgument, "--blocking and --nonblocking: give one of them");
    }
    if (given->locals > 0) given->request.locals = given->locals == 1 ? app::Locals::kShort : app::Locals::kLong;
    const Result<report::Dump> dump = app::DumpStacks(given->request);
    if (!dump.ok()) return dump.status();
    for (const std::string& reason : dump->skipped) base::Say("left out: " + reason);
    return PrintAs(
        context, [&](const report::Style& style) { return report::DumpText(*dump, style); },
        [&] { return report::DumpJson(*dump); });
  };
}

}  // namespace wf::cli
