#include <memory>

#include "app/record.h"
#include "base/say.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

struct Given {
  std::string pid;
  std::string duration;
  std::string rate = "100";
  bool no_line_numbers = false;
  std::string mode;
  std::string flush;
  bool gil = false;
  bool nonblocking = false;
  app::RecordRequest request;
};

Status Invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

Status ReadDuration(const std::string& text, std::optional<int64_t>* into) {
  if (text.empty() || text == "unlimited") return {};
  const Result<int64_t> duration = ParseDuration(text);
  if (!duration.ok()) return duration.status().WithContext("--duration");
  if (*duration == 0) return Invalid("--duration: must be more than nothing");
  *into = *duration;
  return {};
}

// Without a mode it is as in py-spy: wall time, of threads that do not wait.
Status ReadMode(Given& given) {
  app::RecordOptions& options = given.request.options;
  if (given.gil && options.idle) {
    return Invalid("--gil and --idle: a thread that holds the GIL does not wait; give one of them");
  }
  if (given.gil && !given.mode.empty() && given.mode != "gil") {
    return Invalid("--gil and --mode " + given.mode + ": give one of them");
  }
  if (options.idle && !given.mode.empty() && given.mode != "wall") {
    return Invalid("--idle and --mode " + given.mode + ": time that is waited is wall time; give one of them");
  }
  if (given.mode == "cpu") options.mode = profile::SampleMode::kCpu;
  if (given.mode == "gil" || given.gil) options.mode = profile::SampleMode::kGil;
  const bool by_wall = options.mode == profile::SampleMode::kWall;
  options.idle |= by_wall && (given.mode == "wall" || given.request.format == app::kStoreFormat);
  return {};
}

// Fills the request from what was typed.
Status Complete(Given& given, const std::vector<std::string>& program) {
  app::RecordRequest& request = given.request;
  request.command = program;
  const Result<int32_t> pid = ParsePidOrProgram(given.pid, program, "record");
  if (!pid.ok()) return pid.status();
  request.pid = *pid;
  const Result<double> rate = ParseRate(given.rate);
  if (!rate.ok()) return rate.status().WithContext("--rate");
  request.options.rate_hz = *rate;
  WF_RETURN_IF_ERROR(ReadDuration(given.duration, &request.options.duration_ns));
  if (request.options.native && given.nonblocking) {
    return Invalid("--native and --nonblocking: native frames are read while the threads are stopped; leave one out");
  }
  WF_RETURN_IF_ERROR(ReadMode(given));
  if (!given.flush.empty()) {
    const Result<int64_t> flush = ParseDuration(given.flush);
    if (!flush.ok()) return flush.status().WithContext("--flush");
    if (*flush == 0) return Invalid("--flush: must be more than nothing");
    request.flush_ns = *flush;
  }
  if (request.options.blocking && given.nonblocking) return Invalid("--blocking and --nonblocking: give one of them");
  request.shown.line_numbers = !given.no_line_numbers;
  request.shown.processes = request.options.subprocesses;
  return {};
}

Result<int> Act(const std::shared_ptr<Given>& given, const Context& context) {
  given->request.store = context.store;
  WF_RETURN_IF_ERROR(Complete(*given, context.program_words));
  Result<int> code = app::Record(given->request, &base::Say);
  if (code.ok() || given->request.pid != 0 || code.status().code() == Code::kInvalidArgument) return code;
  base::Say(code.status().message());  // before the program was started: no code that it could have given itself
  return app::kOwnFailure;
}

void AddShownOptions(Options options, Given* given) {
  profile::ExportOptions& shown = given->request.shown;
  options.Flag("--function,-F", &shown.by_function, "one frame per function instead of per line");
  options.Flag("--nolineno", &given->no_line_numbers, "no line numbers");
  options.Flag("--full-filenames", &shown.full_file_names, "whole paths instead of the shortest that are unambiguous");
  options.Flag("--threads,-t", &shown.threads, "each thread as an outermost frame");
  options.Flag("--tasks", &given->request.tasks, "each task of Workflow as the outermost frame");
  options.Flag("--icicle", &shown.icicle, "flame graph with the outermost frame at the top");
}

}  // namespace

Action DeclareRecord(Options options, Context& context) {
  auto given = std::make_shared<Given>();
  app::RecordRequest& request = given->request;
  request.format = "flamegraph";
  std::vector<std::string> formats = {std::string(app::kStoreFormat)};
  for (const profile::ExportFormat& format : profile::ExportFormats()) formats.emplace_back(format.name);
  options.Text("--pid,-p", &given->pid, "PID", "the process to record; else a program and its arguments follow");
  options.Text("--output,-o", &request.output, "FILE", "where to (name of the program, time and a suffix)");
  options.Choice("--format,-f", &request.format, "FORMAT", "what to write; store: a run for wf export (flamegraph)",
                 formats);
  options.Text("--duration,-d", &given->duration, "DURATION", "how long: 30, 0.5, 500ms, 1m (until the end)");
  options.Text("--rate,-r", &given->rate, "RATE", "rounds of readings per second: 100, 0.5, 1kHz (100)");
  options.Flag("--subprocesses,-s", &request.options.subprocesses, "the Python processes below it too");
  options.Flag("--idle,-i", &request.options.idle, "the time in which threads wait, too");
  options.Flag("--gil,-g", &given->gil, "only the time with the interpreter's lock");
  options.Choice(
      "--mode", &given->mode, "MODE",
      "what time: wall (as --idle), cpu (of each thread's CPU clock), gil (as --gil); else wall without idle",
      {"wall", "cpu", "gil"});
  options.Flag("--native,-n", &request.options.native,
               "frames of C, C++ and Rust too, of all threads; each round stops them for a moment");
  AddShownOptions(options, given.get());
  AddStore(options, context);
  options.Text("--flush", &given->flush, "DURATION",
               "how often the file is also written meanwhile: 10, 1m; SIGUSR1 does it at once");
  options.Flag("--blocking", &request.options.blocking, "pause the process for each reading, through ptrace");
  options.Flag("--nonblocking", &given->nonblocking, "do not pause the process: what is done anyway");
  return [given, &context]() -> Result<int> { return Act(given, context); };
}

}  // namespace wf::cli
