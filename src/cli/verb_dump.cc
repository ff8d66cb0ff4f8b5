#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "app/dump.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

// Decimal, or hexadecimal with 0x as py-spy takes it.
Result<int32_t> ParsePid(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  int32_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || pid <= 0) {
    return Status(Code::kInvalidArgument, fmt::format("--pid: '{}' is no process id (such as 1234 or 0x4d2)", text));
  }
  return pid;
}

}  // namespace

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
    for (const std::string& reason : dump->skipped) fmt::print(stderr, "wf: left out: {}\n", reason);
    return PrintAs(
        context, [&](const report::Style& style) { return report::DumpText(*dump, style); },
        [&] { return report::DumpJson(*dump); });
  };
}

}  // namespace wf::cli
