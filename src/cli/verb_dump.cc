#include <memory>
#include <string>
#include <utility>

#include "app/dump.h"
#include "base/say.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

struct Given {
  std::string pid;
  app::DumpRequest request;
  bool nonblocking = false;
  int locals = 0;
};

Status Invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

// Fills the request from what was typed.
Status Complete(Given& given) {
  app::DumpRequest& request = given.request;
  if (given.pid.empty() == request.core.empty()) {
    return Invalid(given.pid.empty() ? "dump what? --pid PID, or --core FILE"
                                     : "--pid and --core: only one of them can be looked at");
  }
  if (request.core.empty() && !request.executable.empty()) return Invalid("--executable: goes with --core only");
  if (!request.core.empty() && (request.subprocesses || request.blocking)) {
    return Invalid("--core: no process is looked at; leave out --subprocesses and --blocking");
  }
  if (request.blocking && given.nonblocking) return Invalid("--blocking and --nonblocking: give one of them");
  if (request.native && given.nonblocking && request.core.empty()) {
    return Invalid(
        "--native and --nonblocking: native frames are read while the threads are stopped; leave one of them out");
  }
  if (given.locals > 0) request.locals = given.locals == 1 ? app::Locals::kShort : app::Locals::kLong;
  if (!request.core.empty()) return {};
  const Result<int32_t> pid = ParsePid(given.pid);
  if (pid.ok()) request.pid = *pid;
  return pid.status();
}

void AddOptions(Options options, Given* given) {
  app::DumpRequest& request = given->request;
  options.Text("--pid,-p", &given->pid, "PID", "the process to look at");
  options.Text("--core,-c", &request.core, "FILE", "a core file to look at instead, of gcore or of the kernel");
  options.Text("--executable", &request.executable, "FILE",
               "the program of the core file, where it is another one here");
  options.Flag("--subprocesses,-s", &request.subprocesses, "the Python processes below it too");
  options.Flag("--full-filenames", &request.full_filenames, "whole paths instead of those from the package on");
  options.Count("--locals,-l", &given->locals,
                "local variables of each frame; twice (-ll): longer ones, and what looks like a secret too");
  options.Flag("--async", &request.tasks, "the asyncio tasks of each thread, each with what it awaits");
  options.Flag("--source", &request.source, "the line of source below each frame, where it can be read");
  options.Flag("--native,-n", &request.native,
               "frames of C, C++ and Rust too, of all threads; stops them for a moment");
  options.Flag("--blocking", &request.blocking, "pause the process while it is read, through ptrace");
  options.Flag("--nonblocking", &given->nonblocking, "do not pause the process: what is done anyway");
}

}  // namespace

Action DeclareDump(Options options, Context& context) {
  auto given = std::make_shared<Given>();
  AddOptions(options, given.get());
  options.Flag("--json,-j", &context.json, "print a JSON array of threads with py-spy's keys and more");
  return [given, &context]() -> Result<int> {
    WF_RETURN_IF_ERROR(Complete(*given));
    const Result<report::Dump> dump = app::DumpStacks(given->request);
    if (!dump.ok()) return dump.status();
    for (const std::string& reason : dump->skipped) base::Say("left out: " + reason);
    return PrintAs(
        context, [&](const report::Style& style) { return report::DumpText(*dump, style); },
        [&] { return report::DumpJson(*dump); });
  };
}

}  // namespace wf::cli
