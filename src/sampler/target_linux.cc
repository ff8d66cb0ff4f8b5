#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "sampler/gate.h"
#include "sampler/pause.h"
#include "sampler/proc_files.h"
#include "sampler/target.h"

namespace wf::sampler {
namespace {

constexpr uint32_t kIdentIsOwn = 12;

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
      names_(memory_, runtime_.layout),
      states_(pid) {
  LearnTasks();
}

void Target::LearnTasks() { outer_tids_ = OuterTids(pid_, ReadTasks(pid_)); }

Status Target::Read(Snapshot* snapshot) {
  const cpython::Sample& sample = options_.blocking ? ReadPaused(snapshot) : stacks_.Read();
  if (!sample.alive) {
    snapshot->threads.clear();
    snapshot->list_version = 0;
    if (!ReadStatus(pid_)) return CheckProcess(pid_, std::nullopt);
    return {Code::kFailedPrecondition, "process " + std::to_string(pid_) +
                                           " has no interpreter any more where it was found: it ends, or runs another "
                                           "program by now"};
  }
  const int64_t now_ns = base::MonotonicNs();
  if (options_.names) names_.Refresh(sample, stacks_.interpreters(), now_ns);
  snapshot->complete = sample.complete;
  if (IsArranged(sample, *snapshot)) {
    Update(sample, now_ns, snapshot);
  } else {
    Arrange(sample, now_ns, snapshot);
  }
  return {};
}

// While a process is paused, all its threads look alike: what they did is what they did before.
const cpython::Sample& Target::ReadPaused(Snapshot* snapshot) {
  before_pause_.clear();
  for (const auto& [thread, tid] : tids_) before_pause_[tid] = states_.StateBeforeStop(tid);
  const cpython::Sample* sample = nullptr;
  const Status paused = WhilePaused(pid_, [&] { sample = &stacks_.Read(); });
  snapshot->not_paused = paused.code() == Code::kNotFound ? "" : paused.message();
  return sample != nullptr ? *sample : stacks_.Read();
}

bool Target::IsArranged(const cpython::Sample& sample, const Snapshot& snapshot) const {
  if (arranged_ == 0 || snapshot.list_version != arranged_ || snapshot.threads.size() != order_.size()) return false;
  if (arranged_list_ != sample.list_version || arranged_names_ != names_.version()) return false;
  return runtime_.minor >= kIdentIsOwn ||
         std::none_of(sample.threads.begin(), sample.threads.end(),
                      [](const cpython::ThreadStack& stack) { return stack.frames.empty(); });
}

void Target::Arrange(const cpython::Sample& sample, int64_t now_ns, Snapshot* snapshot) {
  static std::atomic<uint64_t> last_version = 0;
  std::map<std::pair<int64_t, uint64_t>, int32_t> tids;
  std::vector<int32_t> found;
  std::vector<std::pair<ThreadSample, size_t>> threads;
  bool all_known = true;
  for (size_t i = 0; i < sample.threads.size(); ++i) {
    const cpython::ThreadStack& stack = sample.threads[i];
    if (IsNotBegun(stack, sample)) continue;
    auto& [thread, index] = threads.emplace_back();
    index = i;
    thread.tid = TidOf(stack);
    Ask(stack, now_ns, &thread);
    if (thread.state != '?' || !options_.states) tids[{stack.interpreter, stack.state_id}] = thread.tid;
    all_known &= thread.tid != 0;
    thread.name = names_.Of(stack);
    thread.stack = stack;
    thread.interpreter = stack.interpreter;
    found.push_back(thread.tid);
  }
  tids_ = std::move(tids);
  states_.KeepOnly(found);
  std::stable_sort(threads.begin(), threads.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.first.tid != pid_, a.first.stack.interpreter, a.first.stack.state_id) <
           std::tuple(b.first.tid != pid_, b.first.stack.interpreter, b.first.stack.state_id);
  });
  snapshot->threads.clear();
  order_.clear();
  for (auto& [thread, index] : threads) {
    snapshot->threads.push_back(std::move(thread));
    order_.push_back(index);
  }
  all_known &= !joiner_.Join(&snapshot->threads);
  snapshot->list_version = ++last_version;
  arranged_ = all_known ? snapshot->list_version : 0;
  arranged_list_ = sample.list_version;
  arranged_names_ = names_.version();
}

void Target::Update(const cpython::Sample& sample, int64_t now_ns, Snapshot* snapshot) {
  for (size_t i = 0; i < order_.size(); ++i) {
    ThreadSample& thread = snapshot->threads[i];
    const cpython::ThreadStack& stack = sample.threads[order_[i]];
    CopyChanged(stack, &thread.stack);
    Ask(stack, now_ns, &thread);
    if (thread.state == '?' && options_.states) arranged_ = 0;  // look for it anew next time
  }
}

void Target::Ask(const cpython::ThreadStack& stack, int64_t now_ns, ThreadSample* thread) {
  thread->state = StateOf(thread->tid, stack, now_ns);
  thread->active = thread->state == 'R';
  if (options_.cpu_time) thread->cpu_ns = states_.CpuNs(thread->tid);
}

char Target::StateOf(int32_t tid, const cpython::ThreadStack& stack, int64_t now_ns) {
  if (!options_.states) return '?';
  if (const auto before = before_pause_.find(tid); before != before_pause_.end()) return before->second;
  if (!options_.only_activity) return states_.State(tid);
  if (stack.ran_meanwhile && tid != 0) return states_.Ran(tid);
  return states_.Activity(tid, stack.unchanged, now_ns);
}

int32_t Target::TidOf(const cpython::ThreadStack& stack) {
  const auto known = tids_.find({stack.interpreter, stack.state_id});
  if (known != tids_.end()) return known->second;
  const int32_t inner = NativeIdOf(stack, memory_);
  if (inner <= 0) return 0;
  if (!outer_tids_.empty()) {
    if (!outer_tids_.contains(inner)) LearnTasks();
    const auto outer = outer_tids_.find(inner);
    return outer == outer_tids_.end() ? 0 : outer->second;
  }
  return states_.Exists(inner) ? inner : 0;  // what lies there need not be a thread's id
}

}  // namespace wf::sampler
