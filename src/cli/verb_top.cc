#include <unistd.h>

#include <memory>

#include "app/launched_program.h"
#include "app/top.h"
#include "base/say.h"
#include "cli/command_line.h"
#include "cli/terminal.h"
#include "cli/top_screen.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

constexpr int64_t kLeastDelayNs = 50'000'000;

struct Given {
  std::string pid;
  std::string rate = "100";
  std::string delay = "1";
  bool nonblocking = false;
  app::TopRequest request;
};

Status Invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

// Fills the request from what was typed.
Status Complete(Given& given, const std::vector<std::string>& program) {
  app::TopRequest& request = given.request;
  request.command = program;
  const Result<int32_t> pid = ParsePidOrProgram(given.pid, program, "watch");
  if (!pid.ok()) return pid.status();
  request.pid = *pid;
  const Result<double> rate = ParseRate(given.rate);
  if (!rate.ok()) return rate.status().WithContext("--rate");
  request.sampling.rate_hz = *rate;
  const Result<int64_t> delay = ParseDuration(given.delay);
  if (!delay.ok()) return delay.status().WithContext("--delay");
  if (*delay < kLeastDelayNs) return Invalid("--delay: at least 50ms");
  request.sampling.piece_ns = *delay;
  if (request.sampling.blocking && given.nonblocking) return Invalid("--blocking and --nonblocking: give one of them");
  if (request.sampling.native && given.nonblocking) {
    return Invalid("--native and --nonblocking: native frames are read while the threads are stopped; leave one out");
  }
  if (request.shown.gil && request.shown.idle) {
    return Invalid("--gil and --idle: a thread that holds the GIL does not wait; give one of them");
  }
  return {};
}

Result<int> Act(const std::shared_ptr<Given>& given, const Context& context) {
  WF_RETURN_IF_ERROR(Complete(*given, context.program_words));
  app::TopConsole console;
  console.screen = MakeTopScreen();
  console.print = &Print;
  console.print_error = [](std::string_view text) { (void)!::write(STDERR_FILENO, text.data(), text.size()); };
  console.say = &base::Say;
  console.output_style = StyleOfOutput(context.language);
  Result<int> code = app::Top(given->request, console);
  if (code.ok() || given->request.pid != 0 || code.status().code() == Code::kInvalidArgument) return code;
  base::Say(code.status().message());  // before the program was started: no code that it could have given itself
  return app::kOwnFailure;
}

}  // namespace

Action DeclareTop(Options options, Context& context) {
  auto given = std::make_shared<Given>();
  app::TopRequest& request = given->request;
  options.Text("--pid,-p", &given->pid, "PID", "the process to look at; else a program and its arguments follow");
  options.Text("--rate,-r", &given->rate, "RATE", "rounds of readings per second: 100, 0.5, 1kHz (100)");
  options.Text("--delay,-d", &given->delay, "DURATION", "from one picture to the next: 1, 0.5, 250ms (1)");
  options.Flag("--subprocesses,-s", &request.sampling.subprocesses, "the Python processes below it too");
  options.Flag("--idle,-i", &request.shown.idle, "the time in which threads wait, too");
  options.Flag("--gil,-g", &request.shown.gil, "only the time with the interpreter's lock");
  options.Flag("--native,-n", &request.sampling.native,
               "frames of C, C++ and Rust too, of all threads; each round stops them for a moment");
  options.Flag("--full-filenames", &request.full_file_names,
               "whole paths instead of the shortest that are unambiguous");
  options.Flag("--blocking", &request.sampling.blocking, "pause the process for each reading, through ptrace");
  options.Flag("--nonblocking", &given->nonblocking, "do not pause the process: what is done anyway");
  return [given, &context]() -> Result<int> { return Act(given, context); };
}

}  // namespace wf::cli
