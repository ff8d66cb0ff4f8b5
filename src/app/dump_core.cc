#include "app/dump_core.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/dump_frames.h"
#include "app/dump_tasks.h"
#include "cpython/eval_anchors.h"
#include "cpython/runtime.h"
#include "cpython/stack_reader.h"
#include "cpython/thread_names.h"
#include "sampler/core_file.h"
#include "sampler/gate.h"
#include "sampler/native_stacks.h"
#include "sampler/target.h"

namespace wf::app {
namespace {

using sampler::CoreFile;

constexpr size_t kMostNativeFrames = 4096;

// Files that were modified since are not what ran.
int64_t WrittenNs(const std::string& path) {
  struct stat about{};
  return stat(path.c_str(), &about) == 0 ? about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec : 0;
}

std::string Missing(const CoreFile& core) {
  std::string text;
  for (const std::string& each : core.missing()) text += (text.empty() ? "" : "; ") + each;
  return text;
}

Status NoPython(const std::string& path, const CoreFile& core, const cpython::FoundRuntime& found) {
  const std::string subject = fmt::format("the process of core file {}", path);
  const std::string missing = Missing(core);
  const std::string way_out = missing.empty() ? "" : fmt::format(" ({}; --executable EXE names the program)", missing);
  switch (found.outcome) {
    case cpython::FindOutcome::kNotPython:
      return {
          Code::kFailedPrecondition,
          fmt::format("{} had no Python: none of its programs and libraries holds an interpreter{}", subject, way_out)};
    case cpython::FindOutcome::kNotInitialised:
      return {Code::kFailedPrecondition,
              fmt::format("{} had loaded Python ({}) but not initialised it, or had finalised it", subject,
                          found.runtime.path)};
    default: break;
  }
  Status status = sampler::NotSupported(subject, found);
  return missing.empty() ? status : Status(status.code(), status.message() + way_out);
}

// As Target tells it of a live process; 0 when the core file has no such thread.
int32_t TidOf(const cpython::ThreadStack& stack, CoreFile& core) {
  const int32_t tid = NativeIdOf(stack, core);
  const auto& threads = core.notes().threads;
  const bool is_there = std::any_of(threads.begin(), threads.end(), [&](const auto& each) { return each.tid == tid; });
  return is_there ? tid : 0;
}

std::vector<sampler::ThreadSample> PythonThreads(CoreFile& core, const cpython::Runtime& runtime,
                                                 report::DumpProcess* process) {
  cpython::StackReader reader(core, runtime, {});
  const cpython::Sample& sample = reader.Read();
  cpython::ThreadNames names(core, runtime.layout);
  names.Refresh(sample, reader.interpreters(), 0);
  if (!sample.complete) AddNote("the list of threads does not end; some may be missing", process);
  std::vector<sampler::ThreadSample> threads;
  for (const cpython::ThreadStack& stack : sample.threads) {
    sampler::ThreadSample& thread = threads.emplace_back();
    thread.tid = TidOf(stack, core);
    thread.name = names.Of(stack);
    thread.stack = stack;
    thread.interpreter = stack.interpreter;
    if (stack.reject != cpython::Reject::kNone) ++process->rejects[std::string(Name(stack.reject))];
  }
  std::stable_sort(threads.begin(), threads.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.tid != process->pid, a.stack.interpreter, a.stack.state_id) <
           std::tuple(b.tid != process->pid, b.stack.interpreter, b.stack.state_id);
  });
  sampler::ThreadJoiner().Join(&threads);
  return threads;
}

// Adds the native frames, and the threads that Python does not know.
void AddNative(CoreFile& core, const cpython::Layout& layout, sampler::NativeStacks& native,
               std::vector<sampler::ThreadSample>* threads) {
  native.space().SetMappings(core.Mappings());
  const auto memory = [&](uint64_t address, void* into, size_t bytes) { return core.ReadOne(address, into, bytes); };
  std::map<int32_t, size_t> known;
  for (size_t i = 0; i < threads->size(); ++i) known[(*threads)[i].tid] = i;
  for (const sampler::CoreThread& each : core.notes().threads) {
    const auto [at, is_new] = known.try_emplace(each.tid, threads->size());
    if (is_new) {
      sampler::ThreadSample& other = threads->emplace_back();
      other.tid = each.tid;
      other.has_python = false;
    }
    sampler::ThreadSample& thread = (*threads)[at->second];
    const auto anchors =
        cpython::EvalAnchors(core, layout, thread.stack.thread, thread.stack.frames, thread.stack.truncated);
    (void)native.Merge(each.registers, memory, anchors, &thread);
  }
}

// Signals that a debugger stops a process with to write the file are no end of it.
std::string EndOf(int32_t signal) {
  if (signal <= 0 || signal == SIGSTOP || signal == SIGTRAP || signal == SIGINT) return "";
  const char* const name = sigabbrev_np(signal);
  return fmt::format("ended by signal {}{}", signal, name == nullptr ? "" : fmt::format(" (SIG{})", name));
}

}  // namespace

Result<report::DumpProcess> DumpCore(const DumpRequest& request) {
  Result<std::unique_ptr<CoreFile>> opened = CoreFile::Open(request.core, request.executable);
  if (!opened.ok()) return opened.status();
  CoreFile& core = **opened;
  const cpython::FoundRuntime found = FindRuntime(core, core.Modules());
  if (found.outcome != cpython::FindOutcome::kFound) return NoPython(request.core, core, found);
  const cpython::Layout& layout = found.runtime.layout;
  report::DumpProcess process;
  process.core = request.core;
  process.pid = core.notes().pid;
  process.command_line = core.notes().command_line.empty() ? core.notes().name : core.notes().command_line;
  process.version = found.runtime.version;
  process.path = core.executable().empty() ? found.runtime.path : core.executable();
  process.note = EndOf(core.notes().signal);
  std::vector<sampler::ThreadSample> threads = PythonThreads(core, found.runtime, &process);
  sampler::NativeStacks native([&](const native::Mapping& mapping) { return core.OpenFile(mapping); },
                               kMostNativeFrames);
  if (request.native) AddNative(core, layout, native, &threads);
  FrameDetails details("", SourceLines::Until(WrittenNs(request.core)), core, layout, request);
  for (const auto& thread : threads) process.threads.push_back(ThreadOf(thread, details));
  AddTasks(found.runtime, threads, details, &process);
  if (const std::string missing = Missing(core); !missing.empty()) AddNote(missing, &process);
  return process;
}

}  // namespace wf::app
