#include "app/dump.h"

#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "app/dump_tasks.h"
#include "app/package_path.h"
#include "app/source_lines.h"
#include "base/redact.h"
#include "cpython/locals.h"
#include "sampler/pause.h"
#include "sampler/proc_files.h"
#include "sampler/process_memory.h"
#include "sampler/target.h"

namespace wf::app {
namespace {

constexpr cpython::ValueLimits kLongLimits = {.bytes = 4096, .items = 256, .depth = 16, .objects = 4096};

// What is asked for beside the frames themselves, read from one process.
class FrameDetails {
 public:
  FrameDetails(int32_t pid, cpython::MemoryReader& memory, const cpython::Layout& layout, const DumpRequest& request)
      : memory_(memory),
        layout_(layout),
        request_(request),
        paths_("/proc/" + std::to_string(pid) + "/root"),
        sources_(pid) {}

  report::DumpFrame Of(const cpython::Frame& from) {
    report::DumpFrame frame;
    if (from.code == nullptr) return frame;
    frame.name = from.code->name;
    frame.qualname = from.code->qualname;
    frame.filename = from.code->filename;
    frame.short_filename = paths_.Shorten(from.code->filename);
    frame.line = from.line;
    if (request_.source) frame.source = sources_.Of(from.code->filename, from.line);
    if (request_.locals != Locals::kNone) frame.locals = LocalsOf(from);
    return frame;
  }

  const DumpRequest& request() const { return request_; }
  cpython::MemoryReader& memory() { return memory_; }

 private:
  std::vector<report::DumpLocal> LocalsOf(const cpython::Frame& from) {
    const bool whole = request_.locals == Locals::kLong;
    std::vector<report::DumpLocal> locals;
    for (auto& local : ReadLocals(memory_, layout_, from, whole ? kLongLimits : cpython::ValueLimits())) {
      if (!whole) local.text = base::IsSecretName(local.name) ? "***" : base::RedactText(local.text);
      locals.push_back({std::move(local.name), std::move(local.text), local.address, local.argument});
    }
    return locals;
  }

  cpython::MemoryReader& memory_;
  const cpython::Layout& layout_;
  const DumpRequest& request_;
  PackagePaths paths_;
  SourceLines sources_;
};

report::DumpThread ThreadOf(const sampler::ThreadSample& from, FrameDetails& details) {
  report::DumpThread thread;
  thread.tid = from.tid;
  thread.pthread_id = from.stack.pthread_id;
  thread.interpreter = from.stack.interpreter;
  thread.name = from.name;
  thread.state = std::string(1, from.state);
  thread.active = from.active;
  thread.holds_gil = from.stack.holds_gil;
  thread.truncated = from.stack.truncated;
  if (from.stack.reject != cpython::Reject::kNone) thread.reject = Name(from.stack.reject);
  for (const cpython::Frame& frame : from.stack.frames) thread.frames.push_back(details.Of(frame));
  return thread;
}

std::string NoteOn(int32_t pid) {
  const auto status = sampler::ReadStatus(pid);
  if (!status) return "";
  if (status->tracer != 0) {
    return "traced by process " + std::to_string(status->tracer) + " (" + sampler::CommandLine(status->tracer) + ")";
  }
  return status->state == 'T' ? "stopped by a signal; kill -CONT " + std::to_string(pid) + " lets it go on" : "";
}

constexpr int kPatience = 40;  // a program that never holds still gets this many pairs of copies

Status ReadThreads(sampler::Target& target, FrameDetails& details, report::DumpProcess* process) {
  sampler::Snapshot snapshot;
  for (int attempt = 0; attempt < kPatience && !snapshot.complete; ++attempt) {
    WF_RETURN_IF_ERROR(target.Read(&snapshot));
  }
  for (const auto& thread : snapshot.threads) process->threads.push_back(ThreadOf(thread, details));
  if (details.request().tasks) {
    AddTasks(
        details.memory(), target.runtime(), snapshot, [&](const cpython::Frame& frame) { return details.Of(frame); },
        process);
  }
  return {};
}

// While it is paused, all its threads are in the state of being traced: what they did is what they did before.
Status ReadPaused(sampler::Target& target, FrameDetails& details, report::DumpProcess* process) {
  const auto before = sampler::ReadTasks(process->pid);
  Status read;
  const Status paused = sampler::WhilePaused(process->pid, [&] { read = ReadThreads(target, details, process); });
  if (!paused.ok()) {
    process->note += (process->note.empty() ? "" : "; ") + paused.message();
    return ReadThreads(target, details, process);
  }
  for (report::DumpThread& thread : process->threads) {
    const auto found = before.find(thread.tid);
    if (thread.state != "t" || found == before.end()) continue;
    thread.state = std::string(1, found->second.state);
    thread.active = found->second.state == 'R';
  }
  return read;
}

Result<report::DumpProcess> DumpOne(int32_t pid, const DumpRequest& request) {
  sampler::TargetOptions options;
  options.stacks.attempts = kPatience;
  auto target = sampler::Target::Attach(pid, options);
  if (!target.ok()) return target.status();
  const cpython::Runtime& runtime = (*target)->runtime();
  sampler::ProcessMemory memory(pid);
  FrameDetails details(pid, memory, runtime.layout, request);
  report::DumpProcess process;
  process.pid = pid;
  process.note = NoteOn(pid);
  WF_RETURN_IF_ERROR(request.blocking ? ReadPaused(**target, details, &process)
                                      : ReadThreads(**target, details, &process));
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
