#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/export.h"
#include "cli/command_line.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const profile::ExportFormat& format : profile::ExportFormats()) names.emplace_back(format.name);
  return names;
}

std::string DocumentOf(const app::Exported& done, const std::string& format) {
  const nlohmann::json document = {{"version", 1},     {"kind", "export"},  {"run", done.run},
                                   {"format", format}, {"path", done.path}, {"bytes", done.bytes}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Action DeclareExport(Options options, Context& context) {
  struct Given {
    app::ExportRequest request;
    bool no_line_numbers = false;
    bool no_idle = false;
    bool gil = false;
  };
  auto given = std::make_shared<Given>();
  profile::ExportOptions& shown = given->request.options;
  given->request.format = "flamegraph";
  AddRun(options, &given->request.run);
  options.Choice("--format,-f", &given->request.format, "FORMAT", "what to write (flamegraph)", FormatNames());
  options.Text("--output,-o", &given->request.output, "FILE",
               "where to; - for standard output (the run's id and a suffix)");
  options.Flag("--function,-F", &shown.by_function, "one frame per function instead of per line");
  options.Flag("--nolineno", &given->no_line_numbers, "no line numbers");
  options.Flag("--full-filenames", &shown.full_file_names, "whole paths instead of the shortest that are unambiguous");
  options.Flag("--threads,-t", &shown.threads, "each thread as an outermost frame");
  options.Flag("--processes", &shown.processes, "each process as an outermost frame");
  options.Flag("--no-idle", &given->no_idle, "leave out the time in which threads waited");
  options.Flag("--gil,-g", &given->gil, "only the time with the interpreter's lock");
  options.Flag("--tasks", &given->request.tasks, "each task as the outermost frame");
  options.Text("--task", &given->request.task, "NAME", "only what this task did");
  options.Flag("--icicle", &shown.icicle, "flame graph with the outermost frame at the top");
  options.Text("--title", &shown.title, "TEXT", "title of flame graph and heat map (the command)");
  AddStore(options, context);
  AddJson(options, context);
  return [given, &context]() -> Result<int> {
    app::ExportRequest request = given->request;
    request.store = context.store;
    request.options.line_numbers = !given->no_line_numbers;
    if (given->no_idle) request.options.selection = profile::StackSelection::kActive;
    if (given->gil) request.options.selection = profile::StackSelection::kGil;
    const Result<app::Exported> done = app::ExportStacks(request);
    if (!done.ok()) return done.status();
    if (request.output == "-") return kDone;  // nothing of ours among what was asked for
    return PrintAs(
        context, [&](const report::Style&) { return fmt::format("{}: {}\n", request.format, done->path); },
        [&] { return DocumentOf(*done, request.format); });
  };
}

}  // namespace wf::cli
