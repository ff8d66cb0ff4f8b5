#include "app/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "app/dump_core.h"
#include "app/dump_frames.h"
#include "app/dump_tasks.h"
#include "app/watched_process.h"
#include "base/clock.h"
#include "context/position_reader.h"
#include "sampler/native_target.h"
#include "sampler/pause.h"
#include "sampler/proc_files.h"
#include "sampler/process_memory.h"
#include "sampler/target.h"

namespace wf::app {
namespace {

std::string NoteOn(int32_t pid) {
  const auto status = sampler::ReadStatus(pid);
  if (!status) return "";
  if (status->tracer != 0) {
    return "traced by process " + std::to_string(status->tracer) + " (" + sampler::CommandLine(status->tracer) + ")";
  }
  return status->state == 'T' ? "stopped by a signal; kill -CONT " + std::to_string(pid) + " lets it go on" : "";
}

constexpr int kPatience = 40;  // a program that never holds still gets this many pairs of copies

// What a process is read with.
struct Reading {
  sampler::Target& target;
  context::PositionReader& positions;
  FrameDetails& details;
};

void AddThreads(const std::vector<sampler::ThreadSample>& threads, Reading& reading, report::DumpProcess* process) {
  for (const sampler::ThreadSample& from : threads) {
    report::DumpThread& thread = process->threads.emplace_back(ThreadOf(from, reading.details));
    const context::ThreadEntry* const entry = PositionOf(reading.positions, from);
    if (entry == nullptr) continue;
    thread.attempt = {reading.positions.NameOf(*entry), entry->run.ToString(), entry->node, entry->attempt};
  }
  AddTasks(reading.target.runtime(), threads, reading.details, process);
}

Status ReadThreads(Reading& reading, report::DumpProcess* process) {
  sampler::Snapshot snapshot;
  for (int attempt = 0; attempt < kPatience && !snapshot.complete; ++attempt) {
    reading.positions.Before(base::MonotonicNs());
    WF_RETURN_IF_ERROR(reading.target.Read(&snapshot));
    reading.positions.After();
  }
  AddThreads(snapshot.threads, reading, process);
  return {};
}

// A thread that was stopped while it enters or leaves a function has no whole stack just then, however often it is
// read.
constexpr int kMostStops = 10;

bool HasRejected(const std::vector<report::DumpThread>& threads) {
  return std::any_of(threads.begin(), threads.end(), [](const auto& thread) { return !thread.reject.empty(); });
}

bool HasRejected(const sampler::Snapshot& snapshot) {
  return std::any_of(snapshot.threads.begin(), snapshot.threads.end(),
                     [](const auto& thread) { return thread.stack.reject != cpython::Reject::kNone; });
}

// While it is paused, all its threads are in the state of being traced: what they did is what they did before.
Status ReadPaused(Reading& reading, report::DumpProcess* process) {
  const auto before = sampler::ReadTasks(process->pid);
  Status read;
  Status paused;
  for (int stops = 0; stops < kMostStops && (stops == 0 || HasRejected(process->threads)); ++stops) {
    process->threads.clear();
    process->other_tasks.clear();
    paused = sampler::WhilePaused(process->pid, [&] { read = ReadThreads(reading, process); });
  }
  if (!paused.ok()) {
    AddNote(paused.message(), process);
    return ReadThreads(reading, process);
  }
  for (report::DumpThread& thread : process->threads) {
    const auto found = before.find(thread.tid);
    if (thread.state != "t" || found == before.end()) continue;
    thread.state = std::string(1, found->second.state);
    thread.active = found->second.state == 'R';
  }
  return read;
}

// Local variables and source lines are read when the threads run again.
Status ReadNative(Reading& reading, report::DumpProcess* process) {
  constexpr sampler::NativeOptions kDeep = {.most_frames = 4096, .most_stack_bytes = 16 << 20};
  sampler::NativeTarget native(reading.target, kDeep);
  sampler::Snapshot snapshot;
  sampler::StopCount stopped;
  const auto is_wanting = [&](int stops) {
    return !snapshot.complete || (stops < kMostStops && HasRejected(snapshot));
  };
  for (int stops = 0; stops < kPatience && is_wanting(stops); ++stops) {
    reading.positions.Before(base::MonotonicNs());
    WF_RETURN_IF_ERROR(native.Read(&snapshot, &stopped));
    reading.positions.After();
  }
  AddThreads(snapshot.threads, reading, process);
  if (!native.pause().ok()) {
    AddNote("no native frames: " + native.pause().message(), process);
  } else {
    AddNote(fmt::format("its threads were stopped for {:.1f} ms, for the native frames",
                        static_cast<double>(stopped.total_ns) / 1e6),
            process);
  }
  return {};
}

Status ReadAsAsked(const DumpRequest& request, Reading& reading, report::DumpProcess* process) {
  if (request.native) return ReadNative(reading, process);
  return request.blocking ? ReadPaused(reading, process) : ReadThreads(reading, process);
}

Result<report::DumpProcess> DumpOne(int32_t pid, const DumpRequest& request) {
  sampler::TargetOptions options;
  options.stacks.attempts = kPatience;
  options.states = !request.native;  // those from before the stop are read instead
  auto target = sampler::Target::Attach(pid, options);
  if (!target.ok()) return target.status();
  const cpython::Runtime& runtime = (*target)->runtime();
  sampler::ProcessMemory memory(pid);
  FrameDetails details("/proc/" + std::to_string(pid) + "/root", SourceLines(pid), memory, runtime.layout, request);
  report::DumpProcess process;
  process.pid = pid;
  process.note = NoteOn(pid);
  context::PositionReader positions(pid);
  Reading reading{**target, positions, details};
  WF_RETURN_IF_ERROR(ReadAsAsked(request, reading, &process));
  process.command_line = sampler::CommandLine(pid);
  process.version = runtime.version;
  std::error_code ignored;
  process.path = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored).string();
  if (process.path.empty()) process.path = runtime.path;
  for (size_t i = 0; i < (*target)->rejects().size(); ++i) {
    const uint64_t count = (*target)->rejects().at(i);
    if (count != 0) process.rejects[std::string(Name(static_cast<cpython::Reject>(i)))] = count;
  }
  return process;
}

}  // namespace

Result<report::Dump> DumpStacks(const DumpRequest& request) {
  report::Dump dump;
  dump.full_filenames = request.full_filenames;
  dump.with_locals = request.locals != Locals::kNone;
  dump.with_tasks = request.tasks;
  if (!request.core.empty()) {
    Result<report::DumpProcess> process = DumpCore(request);
    if (!process.ok()) return process.status();
    dump.processes.push_back(std::move(*process));
    return dump;
  }
  std::vector<int32_t> pids = {request.pid};
  if (request.subprocesses) {
    const auto below = sampler::Descendants(request.pid);
    pids.insert(pids.end(), below.begin(), below.end());
  }
  Status first;
  for (const int32_t pid : pids) {
    Result<report::DumpProcess> process = DumpOne(pid, request);
    if (process.ok()) {
      dump.processes.push_back(std::move(*process));
    } else {
      if (first.ok()) first = process.status();
      dump.skipped.push_back(process.status().message());
    }
  }
  if (dump.processes.empty()) return first;
  return dump;
}

}  // namespace wf::app
