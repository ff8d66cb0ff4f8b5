#include "app/dump.h"

#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "app/package_path.h"
#include "sampler/proc_files.h"
#include "sampler/target.h"

namespace wf::app {
namespace {

report::DumpFrame FrameOf(const cpython::Frame& from, PackagePaths& paths) {
  report::DumpFrame frame;
  if (from.code == nullptr) return frame;
  frame.name = from.code->name;
  frame.qualname = from.code->qualname;
  frame.filename = from.code->filename;
  frame.short_filename = paths.Shorten(from.code->filename);
  frame.line = from.line;
  return frame;
}

report::DumpThread ThreadOf(const sampler::ThreadSample& from, PackagePaths& paths) {
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
  for (const cpython::Frame& frame : from.stack.frames) thread.frames.push_back(FrameOf(frame, paths));
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

Result<report::DumpProcess> DumpOne(int32_t pid) {
  constexpr int kPatience = 40;  // a program that never holds still gets this many pairs of copies
  sampler::TargetOptions options;
  options.stacks.attempts = kPatience;
  auto target = sampler::Target::Attach(pid, options);
  if (!target.ok()) return target.status();
  sampler::Snapshot snapshot;
  for (int attempt = 0; attempt < kPatience && !snapshot.complete; ++attempt) {
    WF_RETURN_IF_ERROR((*target)->Read(&snapshot));
  }
  report::DumpProcess process;
  process.pid = pid;
  process.command_line = sampler::CommandLine(pid);
  process.version = (*target)->runtime().version;
  std::error_code ignored;
  process.path = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored).string();
  if (process.path.empty()) process.path = (*target)->runtime().path;
  process.note = NoteOn(pid);
  PackagePaths paths("/proc/" + std::to_string(pid) + "/root");
  for (const auto& thread : snapshot.threads) process.threads.push_back(ThreadOf(thread, paths));
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
  std::vector<int32_t> pids = {request.pid};
  if (request.subprocesses) {
    const auto below = sampler::Descendants(request.pid);
    pids.insert(pids.end(), below.begin(), below.end());
  }
  Status first;
  for (const int32_t pid : pids) {
    Result<report::DumpProcess> process = DumpOne(pid);
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
