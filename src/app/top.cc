#include "app/top.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "app/kept_output.h"
#include "app/launched_program.h"
#include "app/stop_signals.h"
#include "app/top_sampler.h"
#include "report/top_text.h"
#include "sampler/proc_files.h"

namespace wf::app {
namespace {

using analysis::TopModel;
using Put = std::function<bool(std::string_view)>;  // false: nobody reads

// A signal that comes just before a wait is noticed after it.
constexpr int kWaitMs = 250;
constexpr int kPauseMs = 50;

// Ends early when a signal comes.
void Pause() {
  const timespec pause = {0, kPauseMs * 1'000'000L};
  ::nanosleep(&pause, nullptr);
}

std::string TargetOf(int32_t pid) { return fmt::format("process {}: {}", pid, sampler::CommandLine(pid)); }

// A picture for each window and key, until somebody leaves or nothing more comes.
void ShowOnScreen(const report::TopViewOptions& options, TopScreen& screen, TopSampler& sampler,
                  const StopSignals& signals) {
  report::TopView view(options);
  uint64_t drawn = 0;
  bool is_stale = true;
  while (sampler.is_running() && !signals.stopped() && !screen.IsGone()) {
    report::TopPicture picture;
    sampler.Look([&](TopModel& model) {
      is_stale = is_stale || model.windows() != drawn;
      drawn = model.windows();
      if (is_stale) picture = view.Draw(model, screen.Size());
    });
    if (is_stale) screen.Draw(picture);
    const std::optional<report::TopKey> key = screen.ReadKey(kWaitMs, sampler.news());
    if (!key) sampler.WaitForNews(0);
    is_stale = key.has_value();
    if (!key) continue;
    auto wish = report::TopView::Wish::kNothing;
    sampler.Look([&](TopModel& model) {
      wish = view.Press(*key, model);
      if (wish == report::TopView::Wish::kReset) model.Reset();
    });
    if (wish == report::TopView::Wish::kLeave) return;
  }
}

// The same without a screen: a table for each window.
void ShowAsTables(const TopRequest& request, TopSampler& sampler, const StopSignals& signals, const Put& put,
                  const report::Style& style) {
  report::TopNames names(request.full_file_names);
  uint64_t shown = 0;
  while (sampler.is_running() && !signals.stopped()) {
    sampler.WaitForNews(kWaitMs);
    std::string text;
    sampler.Look([&](const TopModel& model) {
      if (model.windows() == shown) return;
      shown = model.windows();
      text = report::TopText(model, {}, names, style) + "\n";
    });
    if (!text.empty() && !put(text)) return;
  }
}

// What stays when the screen is closed.
std::string LastTable(const TopRequest& request, TopSampler& sampler, const report::Style& style) {
  report::TopNames names(request.full_file_names);
  report::TopTextOptions options;
  options.of_all_time = true;
  options.query.column = analysis::TopColumn::kOwnTime;
  std::string text;
  sampler.Look([&](const TopModel& model) {
    if (model.windows() > 0) text = report::TopText(model, options, names, style);
  });
  return text;
}

void Show(const TopRequest& request, int32_t pid, TopConsole& console, TopSampler& sampler, const StopSignals& signals,
          const Put& put, const report::Style& style) {
  if (console.screen && console.screen->Open()) {
    ShowOnScreen({.target = TargetOf(pid), .full_file_names = request.full_file_names}, *console.screen, sampler,
                 signals);
    console.screen->Close();
  } else {
    ShowAsTables(request, sampler, signals, put, style);
  }
  sampler.Stop();
  if (!sampler.not_paused().empty()) console.say(sampler.not_paused());
  if (const std::string note = sampler.NativeNote(); !note.empty()) console.say(note);
}

Result<int> TopOfProcess(const TopRequest& request, TopConsole& console) {
  const StopSignals signals;
  TopSampler sampler(request.pid, request.sampling, request.shown);
  WF_RETURN_IF_ERROR(sampler.Attach());
  sampler.Start();
  Show(request, request.pid, console, sampler, signals, console.print, console.output_style);
  const std::string table = LastTable(request, sampler, console.output_style);
  if (table.empty() && !signals.stopped()) {
    return Status(Code::kFailedPrecondition, fmt::format("process {} ended before it was read", request.pid));
  }
  (void)console.print(table);
  return 0;
}

// Until the program ended; what it writes meanwhile is shown.
void WaitFor(const LaunchedProgram& program, KeptOutput& kept, const TopConsole& console) {
  if (!program.HasEnded()) {
    console.say(fmt::format("waiting for the program to end (process {})", program.pid()));
  }
  while (!program.HasEnded()) {
    (void)kept.ShowNew();
    Pause();
  }
  (void)kept.ShowNew();
}

Result<int> TopOfProgram(const TopRequest& request, TopConsole& console) {
  std::optional<KeptOutput> kept;
  if (console.screen) {
    Result<KeptOutput> opened = KeptOutput::Open();
    if (!opened.ok()) return opened.status();
    kept = std::move(*opened);
  }
  StopSignals signals;
  Result<LaunchedProgram> program =
      LaunchedProgram::Start(request.command, signals, kept ? kept->streams() : ProgramStreams{});
  if (!program.ok()) {
    console.say(program.status().message());
    return ExitOfStart(program.status());
  }
  RecordOptions sampling = request.sampling;
  sampling.below = true;
  TopSampler sampler(program->pid(), sampling, request.shown);
  sampler.Start();
  const Put put = [&console](std::string_view text) {
    console.print_error(text);
    return true;  // whoever reads it or not, the program goes on
  };
  Show(request, program->pid(), console, sampler, signals, put, console.error_style);
  if (kept) (void)kept->ShowNew();
  const std::string table = LastTable(request, sampler, console.error_style);
  if (table.empty()) console.say("there was no Python to read in " + request.command[0]);
  console.print_error(table);
  if (kept) WaitFor(*program, *kept, console);
  return program->Wait();
}

}  // namespace

Result<int> Top(const TopRequest& request, TopConsole& console) {
  return request.pid != 0 ? TopOfProcess(request, console) : TopOfProgram(request, console);
}

}  // namespace wf::app
