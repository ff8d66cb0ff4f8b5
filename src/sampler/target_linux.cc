#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "sampler/gate.h"
#include "sampler/proc_files.h"
#include "sampler/target.h"

namespace wf::sampler {
namespace {

// Before 3.12 a thread that is just being started bears its parent's ident and has no frames.
bool IsNotBegun(const cpython::ThreadStack& stack, const cpython::Sample& sample) {
  if (!stack.frames.empty()) return false;
  return std::any_of(sample.threads.begin(), sample.threads.end(), [&](const cpython::ThreadStack& other) {
    return &other != &stack && other.interpreter == stack.interpreter && other.pthread_id == stack.pthread_id;
  });
}

}  // namespace

Result<std::unique_ptr<Target>> Target::Attach(int32_t pid, const TargetOptions& options) {
  const auto status = ReadStatus(pid);
  WF_RETURN_IF_ERROR(CheckProcess(pid, status));
  int error = 0;
  const auto maps = ReadProc(pid, "maps", &error);
  if (!maps && error != EACCES && error != EPERM) return CheckProcess(pid, std::nullopt);
  if (!maps) return Refusal(pid, ReadGateFacts(pid, *status));
  ProcessMemory memory(pid);
  const auto modules = ModulesIn(*maps);
  if (!modules.empty()) {
    char probe = 0;
    if (!memory.ReadOne(modules[0].base, &probe, 1) && memory.last_error() != EFAULT) {
      return memory.last_error() == ESRCH ? CheckProcess(pid, std::nullopt) : Refusal(pid, ReadGateFacts(pid, *status));
    }
  }
  cpython::FoundRuntime found = FindRuntime(memory, modules);
  if (found.outcome != cpython::FindOutcome::kFound) return NotReadable(pid, status->name, found);
  return std::unique_ptr<Target>(new Target(pid, std::move(found.runtime), options));
}

Target::Target(int32_t pid, cpython::Runtime runtime, const TargetOptions& options)
    : pid_(pid),
      options_(options),
      runtime_(std::move(runtime)),
      memory_(pid),
      stacks_(memory_, runtime_, options.stacks),
      names_(memory_, runtime_.layout) {
  LearnTasks();
}

void Target::LearnTasks() { outer_tids_ = OuterTids(pid_, ReadTasks(pid_)); }

Status Target::Read(Snapshot* snapshot) {
  snapshot->threads.clear();
  stacks_.Read(&sample_);
  if (!sample_.alive) {
    if (!ReadStatus(pid_)) return CheckProcess(pid_, std::nullopt);
    return {Code::kFailedPrecondition, "process " + std::to_string(pid_) +
                                           " has no interpreter any more where it was found: it ends, or runs another "
                                           "program by now"};
  }
  snapshot->complete = sample_.complete;
  if (options_.names) names_.Refresh(sample_, stacks_.interpreters(), base::MonotonicNs());
  std::map<std::pair<int64_t, uint64_t>, int32_t> tids;
  for (cpython::ThreadStack& stack : sample_.threads) {
    if (IsNotBegun(stack, sample_)) continue;
    ThreadSample& thread = snapshot->threads.emplace_back();
    thread.tid = TidOf(stack);
    if (options_.states) thread.state = StateOf(thread.tid);
    if (thread.state != '?' || !options_.states) tids[{stack.interpreter, stack.state_id}] = thread.tid;
    thread.active = thread.state == 'R';
    thread.name = names_.Of(stack);
    thread.stack = std::move(stack);
  }
  tids_ = std::move(tids);
  ForgetEndedThreads(*snapshot);
  std::stable_sort(snapshot->threads.begin(), snapshot->threads.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.tid != pid_, a.stack.interpreter, a.stack.state_id) <
           std::tuple(b.tid != pid_, b.stack.interpreter, b.stack.state_id);
  });
  return {};
}

void Target::ForgetEndedThreads(const Snapshot& snapshot) {
  if (stat_files_.size() <= snapshot.threads.size()) return;  // few of them can have ended: not worth the search
  std::erase_if(stat_files_, [&](const auto& file) {
    return std::none_of(snapshot.threads.begin(), snapshot.threads.end(),
                        [&](const ThreadSample& thread) { return thread.tid == file.first; });
  });
}

// Before 3.11 no kernel id is stored, only the address of glibc's struct pthread, which holds it: at 720 in every glibc
// for x86-64 (nptl/descr.h: 704 bytes of head, a list node, then tid). Whether it is one is seen by whether there is
// such a task.
int32_t Target::InnerTidOf(const cpython::ThreadStack& stack) {
  constexpr uint64_t kTidOffset = 720;
  if (stack.native_id != 0) return static_cast<int32_t>(stack.native_id);
  return memory_.Get<int32_t>(stack.pthread_id + kTidOffset).value_or(0);
}

int32_t Target::TidOf(const cpython::ThreadStack& stack) {
  const auto known = tids_.find({stack.interpreter, stack.state_id});
  if (known != tids_.end()) return known->second;
  const int32_t inner = InnerTidOf(stack);
  if (inner <= 0) return 0;
  if (!outer_tids_.empty()) {
    if (!outer_tids_.contains(inner)) LearnTasks();
    const auto outer = outer_tids_.find(inner);
    return outer == outer_tids_.end() ? 0 : outer->second;
  }
  return StateOf(inner) == '?' ? 0 : inner;  // what lies there need not be a thread's id
}

base::Fd Target::OpenStat(int32_t tid) {
  const std::string path = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(tid) + "/stat";
  base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.valid() || errno != EMFILE || stat_files_.empty()) return file;
  stat_files_.clear();
  return base::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// One pread on a descriptor that stays open: a third of the cost of opening the file each time.
char Target::StateOf(int32_t tid) {
  if (tid <= 0) return '?';
  const auto kept = stat_files_.find(tid);
  base::Fd opened = kept == stat_files_.end() ? OpenStat(tid) : base::Fd();
  const int file = kept == stat_files_.end() ? opened.get() : kept->second.get();
  char text[512];
  const ssize_t got = pread(file, text, sizeof(text), 0);
  if (got <= 0) {
    stat_files_.erase(tid);
    return '?';
  }
  if (opened.valid() && stat_files_.size() < kMostOpenFiles) stat_files_.emplace(tid, std::move(opened));
  const std::string_view line(text, static_cast<size_t>(got));
  const size_t end = line.rfind(')');
  return end == std::string_view::npos || end + 2 >= line.size() ? '?' : line[end + 2];
}

}  // namespace wf::sampler
