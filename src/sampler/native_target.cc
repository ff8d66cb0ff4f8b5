#include "sampler/native_target.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cpython/eval_anchors.h"
#include "sampler/mapped_files.h"
#include "sampler/pause.h"
#include "sampler/proc_files.h"
#include "sampler/registers.h"

namespace wf::sampler {
namespace {

// Libraries are loaded now and then; that something new is run is seen earlier than that.
constexpr int64_t kMappingsNs = 1'000'000'000;

// What lies below the stack pointer and is still in use (System V ABI for x86-64, 3.2.2): before its `ret` a function
// has taken back its frame, but not what it saved there.
constexpr uint64_t kRedZone = 128;
// Apart from the versions of stacks of Python frames alone.
constexpr uint64_t kMixedVersion = uint64_t{1} << 63;

// How many bytes could be read from the beginning on. Another stack may lie behind this one in the same mapping, and
// pages that guard it between them.
size_t ReadUpTo(cpython::MemoryReader& memory, uint64_t address, std::span<std::byte> into) {
  size_t done = 0;
  for (const size_t piece : {size_t{1} << 16, size_t{1} << 12}) {
    std::vector<cpython::Segment> segments;
    for (size_t at = done; at < into.size();) {
      const size_t bytes = std::min(piece - (address + at) % piece, into.size() - at);
      segments.push_back({address + at, into.data() + at, bytes});
      at += bytes;
    }
    memory.Read(segments);
    const auto failed = std::find_if(segments.begin(), segments.end(), [](const auto& each) { return !each.ok; });
    if (failed == segments.end()) return into.size();
    done = failed->address - address;
    into = into.first(std::min(into.size(), done + failed->bytes));
  }
  return done;
}

}  // namespace

NativeTarget::NativeTarget(Target& target, const NativeOptions& options)
    : target_(target),
      options_(options),
      memory_(target.pid()),
      stacks_([this](const native::Mapping& mapping) { return OpenMapped(target_.pid(), mapping, memory_); },
              options.most_frames),
      states_(target.pid()) {}

void NativeTarget::LearnMappings() {
  const auto maps = ReadProc(target_.pid(), "maps");
  if (maps) stacks_.space().SetMappings(native::MappingsIn(*maps));
  names_.clear();  // threads may be renamed
  mappings_due_ns_ = base::MonotonicNs() + kMappingsNs;
}

Status NativeTarget::Read(Snapshot* snapshot, StopCount* stopped) {
  stacks_.space().KeepPlaces();
  if (base::MonotonicNs() >= mappings_due_ns_) LearnMappings();
  before_.swap(captured_);
  captured_.clear();
  before_generation_ = stacks_.space().generation();
  // What takes long the first time is not to take long while the threads stand still.
  if (!is_warm_) WF_RETURN_IF_ERROR(target_.Read(&python_));
  is_warm_ = true;
  AskBeforeStop();
  Status read;
  bool has_read = false;
  int64_t stopped_ns = 0;
  const auto act = [&] {
    read = target_.Read(&python_);
    has_read = true;
    if (read.ok()) Capture();
  };
  pause_ = WhilePaused(target_.pid(), act, &stopped_ns);
  if (pause_.ok()) {
    ++stopped->stops;
    stopped->total_ns += stopped_ns;
  }
  if (!has_read) read = target_.Read(&python_);
  WF_RETURN_IF_ERROR(read);
  *snapshot = python_;
  snapshot->list_version = 0;  // it is put together anew each time
  for (ThreadSample& thread : snapshot->threads) SetState(&thread);
  if (pause_.ok()) AddOthers(snapshot);
  MergeAll(snapshot);
  return {};
}

bool NativeTarget::Stopped::IsLike(const Stopped& other) const {
  return stack_begin == other.stack_begin && registers == other.registers && stack == other.stack;
}

void NativeTarget::MergeAll(Snapshot* snapshot) {
  const bool is_known = before_generation_ == stacks_.space().generation();
  bool all_mapped = true;
  for (ThreadSample& thread : snapshot->threads) {
    const auto found = captured_.find(thread.tid);
    if (found == captured_.end()) continue;
    Stopped& stopped = found->second;
    stopped.python_version = thread.stack.version;
    const auto before = before_.find(thread.tid);
    if (is_known && before != before_.end() && before->second.mixed_version != 0 &&
        before->second.python_version == stopped.python_version && before->second.IsLike(stopped)) {
      stopped.mixed = std::move(before->second.mixed);
      stopped.mixed_version = before->second.mixed_version;
      stopped.end = before->second.end;
      thread.mixed = stopped.mixed;
      thread.native_end = stopped.end;
    } else {
      all_mapped &= MergeThread(stopped, &thread);
    }
    thread.mixed_version = stopped.mixed_version;
  }
  if (!all_mapped) mappings_due_ns_ = 0;
}

// False when there may be mappings that are not known.
bool NativeTarget::MergeThread(Stopped& stopped, ThreadSample* thread) {
  static std::atomic<uint64_t> last_version = 0;
  const auto memory = [&](uint64_t address, void* into, size_t bytes) {
    const uint64_t at = address - stopped.stack_begin;
    if (address < stopped.stack_begin || at > stopped.stack.size() || bytes > stopped.stack.size() - at) return false;
    std::memcpy(into, stopped.stack.data() + at, bytes);
    return true;
  };
  const bool all_mapped = stacks_.Merge(stopped.registers, memory, stopped.anchors, thread);
  const bool is_cut = stopped.stack.size() == options_.most_stack_bytes;
  if (thread->native_end == native::StackEnd::kUnreadable && is_cut) thread->native_end = native::StackEnd::kTooDeep;
  stopped.mixed = thread->mixed;
  stopped.end = thread->native_end;
  stopped.mixed_version = kMixedVersion | ++last_version;
  return all_mapped;
}

// While the threads stand still.
void NativeTarget::Capture() {
  size_t left = options_.most_bytes;
  for (const auto& [tid, state] : before_stop_) CaptureThread(tid, &left);
  for (const ThreadSample& thread : python_.threads) {
    if (!captured_.contains(thread.tid)) CaptureThread(thread.tid, &left);
    const auto found = captured_.find(thread.tid);
    if (found == captured_.end()) continue;
    found->second.anchors = cpython::EvalAnchors(memory_, target_.runtime().layout, thread.stack.thread,
                                                 thread.stack.frames, thread.stack.truncated);
  }
}

void NativeTarget::CaptureThread(int32_t tid, size_t* left) {
  const auto registers = tid == 0 ? std::nullopt : ReadRegisters(tid);
  if (!registers) return;
  Stopped& stopped = captured_[tid];
  stopped.registers = *registers;
  const native::Mapping* mapping = stacks_.space().Find(registers->sp());
  if (mapping == nullptr) {  // a thread that was started, or a stack that has grown, since
    LearnMappings();
    mapping = stacks_.space().Find(registers->sp());
  }
  if (mapping == nullptr) return;
  const uint64_t begin = std::max(mapping->begin, registers->sp() - kRedZone);
  const uint64_t bytes = std::min<uint64_t>({mapping->end - begin, options_.most_stack_bytes, *left});
  stopped.stack.resize(bytes);
  stopped.stack.resize(ReadUpTo(memory_, begin, stopped.stack));
  stopped.stack_begin = begin;
  *left -= stopped.stack.size();
}

void NativeTarget::AskBeforeStop() {
  const std::vector<int32_t> tids = ReadTids(target_.pid());
  states_.KeepOnly(tids);
  before_stop_.clear();
  for (const int32_t tid : tids) before_stop_[tid] = states_.StateBeforeStop(tid);
}

void NativeTarget::SetState(ThreadSample* thread) {
  const auto found = before_stop_.find(thread->tid);
  if (found == before_stop_.end()) return;
  thread->state = found->second;
  thread->active = thread->state == 'R';
  thread->cpu_ns = states_.CpuNs(thread->tid);
}

const std::string& NativeTarget::NameOf(int32_t tid) {
  const auto [at, is_new] = names_.try_emplace(tid);
  if (is_new) at->second = ReadProc(target_.pid(), "task/" + std::to_string(tid) + "/comm").value_or("");
  while (at->second.ends_with('\n')) at->second.pop_back();
  return at->second;
}

void NativeTarget::AddOthers(Snapshot* snapshot) {
  std::set<int32_t> known;
  for (const ThreadSample& thread : snapshot->threads) known.insert(thread.tid);
  for (const auto& [tid, state] : before_stop_) {
    if (known.contains(tid) || !captured_.contains(tid)) continue;
    ThreadSample& thread = snapshot->threads.emplace_back();
    thread.tid = tid;
    thread.name = NameOf(tid);
    thread.has_python = false;
    SetState(&thread);
  }
}

}  // namespace wf::sampler
