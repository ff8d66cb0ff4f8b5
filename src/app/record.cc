#include "app/record.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/launched_program.h"
#include "app/record_output.h"
#include "app/stop_signals.h"
#include "base/clock.h"
#include "sampler/thread_states.h"

namespace wf::app {
namespace {

using Say = std::function<void(const std::string&)>;

// Writes what there is each time that it is due, or was asked for by a signal.
class Flushing {
 public:
  Flushing(const RecordRequest& request, const StopSignals& signals, RecordSession& session, RecordOutput& output,
           const Say& say)
      : every_ns_(request.flush_ns), signals_(signals), session_(session), output_(output), say_(say) {
    if (every_ns_ > 0) next_ns_ = base::MonotonicNs() + every_ns_;
  }

  void EachRound() {
    const bool is_asked = signals_.TakeRequest();
    const bool is_due = every_ns_ > 0 && base::MonotonicNs() >= next_ns_;
    if (!is_asked && !is_due) return;
    const Status status = output_.WriteSoFar(session_, is_asked ? say_ : [](const std::string&) {});
    if (every_ns_ > 0) next_ns_ = base::MonotonicNs() + every_ns_;
    if (!status.ok() && status.message() != last_problem_) say_(status.message() + "; recording goes on");
    last_problem_ = status.message();
  }

 private:
  const int64_t every_ns_;
  const StopSignals& signals_;
  RecordSession& session_;
  RecordOutput& output_;
  const Say& say_;
  int64_t next_ns_ = 0;
  std::string last_problem_;
};

// Until there is nothing more to record.
void Run(const RecordRequest& request, const StopSignals& signals, RecordSession& session, RecordOutput& output,
         const Say& say) {
  Flushing flushing(request, signals, session, output, say);
  session.Run([&] { flushing.EachRound(); });
  if (!session.not_paused().empty()) say(session.not_paused());
}

// A file that grows with the recording anyway, and the store, can tell attempts apart; sums are by task. To find them
// costs a little in each round, so that it is asked for only where it is shown.
std::optional<AttemptBook::Detail> AttemptsOf(const RecordRequest& request, const profile::ExportFormat* format) {
  if (request.format == kStoreFormat) return AttemptBook::Detail::kAttempts;
  if (format == nullptr || (!request.tasks && !format->attempts)) return std::nullopt;
  return format->by_time ? AttemptBook::Detail::kAttempts : AttemptBook::Detail::kTasks;
}

// What the format shows decides what has to be kept.
RecordOptions OptionsOf(const RecordRequest& request) {
  RecordOptions options = request.options;
  const profile::ExportFormat* format = profile::FindExportFormat(request.format);
  options.needs = {.by_time = format != nullptr && format->by_time, .by_thread = request.shown.threads};
  options.attempts = AttemptsOf(request, format);
  return options;
}

void SayStops(const RecordSession& session, const Say& say) {
  if (const std::string note = session.NativeNote(); !note.empty()) say(note);
}

// Without this, stacks that all stand outside of tasks look as if there had been none.
void SayTasks(const RecordRequest& request, const RecordSession& session, const Say& say) {
  if (!session.why_no_attempts().ok()) say("tasks are missing: " + session.why_no_attempts().message());
  if (!request.tasks || session.met_attempts() || !session.why_no_attempts().ok()) return;
  say("--tasks: no thread was seen to work for a task of Workflow");
}

Result<int> RecordProcess(const RecordRequest& request, RecordOutput& output, const Say& say) {
  const StopSignals signals;
  RecordSession session(request.pid, OptionsOf(request), [&] { return signals.stopped(); }, output.sink());
  WF_RETURN_IF_ERROR(session.Attach());
  say(fmt::format("recording process {} at {:g} Hz; Ctrl-C ends it", request.pid, request.options.rate_hz));
  Run(request, signals, session, output, say);
  if (!session.saw_python()) {
    return Status(Code::kFailedPrecondition, fmt::format("process {} ended before it was read", request.pid));
  }
  WF_RETURN_IF_ERROR(output.Write(session, say));
  SayTasks(request, session, say);
  SayStops(session, say);
  return 0;
}

int RecordProgram(const RecordRequest& request, RecordOutput& output, const Say& say) {
  StopSignals signals;
  Result<LaunchedProgram> program = LaunchedProgram::Start(request.command, signals);
  if (!program.ok()) {
    say(program.status().message());
    return ExitOfStart(program.status());
  }
  RecordOptions options = OptionsOf(request);
  options.below = true;
  RecordSession session(program->pid(), options, [&] { return signals.stopped(); }, output.sink());
  Run(request, signals, session, output, say);
  Status status(Code::kNotFound, "nothing is written: there was no Python to read in " + request.command[0]);
  if (session.saw_python()) status = output.Write(session, say);
  if (!status.ok()) say(status.message());
  if (status.ok()) SayTasks(request, session, say);
  SayStops(session, say);
  return program->Wait();
}

}  // namespace

Result<int> Record(const RecordRequest& request, const Say& say) {
  if (request.options.mode == profile::SampleMode::kCpu && !sampler::ThreadStates::CanTellCpu()) {
    return Status(Code::kFailedPrecondition,
                  "--mode cpu: this kernel does not tell the CPU time of threads (no /proc/PID/schedstat)");
  }
  Result<std::unique_ptr<RecordOutput>> output = RecordOutput::Open(request);
  if (!output.ok()) return output.status();
  if (request.pid != 0) return RecordProcess(request, **output, say);
  return RecordProgram(request, **output, say);
}

}  // namespace wf::app
