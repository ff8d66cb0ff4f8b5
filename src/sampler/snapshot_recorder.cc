#include "sampler/snapshot_recorder.h"

#include <fmt/format.h>

#include <string>

namespace wf::sampler {
namespace {

using cpython::Reject;

uint8_t StateOf(const ThreadSample& sample) {
  const uint8_t gil = sample.stack.holds_gil ? profile::kHoldsGil : 0;
  return gil | (sample.active ? profile::kOnCpu : profile::kIdle);
}

}  // namespace

void SnapshotRecorder::Record(const Snapshot& snapshot, int64_t time_ns) {
  const bool is_arranged =
      snapshot.list_version != 0 && snapshot.list_version == arranged_ && snapshot.threads.size() == order_.size();
  if (!is_arranged) Arrange(snapshot, time_ns);
  for (size_t i = 0; i < order_.size(); ++i) RecordThread(snapshot.threads[i], *order_[i], time_ns);
  if (!snapshot.complete) {
    recorder_.CountRejected("list of threads cut short");
    arranged_ = 0;  // those that are missing may have ended all the same
    return;
  }
  if (is_arranged) return;
  std::erase_if(threads_, [&](const auto& entry) {
    const bool gone = entry.second.round != round_;
    if (gone) recorder_.EndThread(entry.second.index, time_ns, ClockOf(entry.second, time_ns));
    return gone;
  });
}

void SnapshotRecorder::Pause(int64_t time_ns) {
  for (const auto& [key, thread] : threads_) {
    recorder_.Record(thread.index, {.time_ns = time_ns, .clock_ns = ClockOf(thread, time_ns), .weighs = false});
  }
}

// Whose advance is the weight.
int64_t SnapshotRecorder::ClockOf(const Thread& thread, int64_t time_ns) const {
  return recorder_.meta().mode == profile::SampleMode::kCpu ? thread.cpu_ns : time_ns;
}

// Finds the threads of a snapshot that is not like the one before.
void SnapshotRecorder::Arrange(const Snapshot& snapshot, int64_t time_ns) {
  ++round_;
  order_.clear();
  arranged_ = snapshot.list_version;
  for (const ThreadSample& sample : snapshot.threads) {
    const auto key = sample.has_python ? std::pair(sample.stack.interpreter, sample.stack.state_id)
                                       : std::pair(int64_t{-1}, static_cast<uint64_t>(sample.tid));
    const auto [at, is_new] = threads_.try_emplace(key);
    Thread& thread = at->second;
    thread.round = round_;
    if (is_new) {
      thread.index = recorder_.AddThread(process_, sample.tid, sample.name, time_ns);
    } else if (!sample.name.empty()) {  // a name is set after the start, and may be changed
      recorder_.RenameThread(thread.index, sample.name);
    }
    order_.push_back(&thread);
  }
}

void SnapshotRecorder::End(int64_t time_ns) {
  for (const auto& [key, thread] : threads_) recorder_.EndThread(thread.index, time_ns, ClockOf(thread, time_ns));
  threads_.clear();
  texts_.clear();
  order_.clear();
  arranged_ = 0;
}

void SnapshotRecorder::RecordThread(const ThreadSample& sample, Thread& thread, int64_t time_ns) {
  if (!sample.is_wanted) {
    thread.cpu_ns = sample.cpu_ns;
    recorder_.Record(thread.index, {.time_ns = time_ns, .clock_ns = ClockOf(thread, time_ns), .weighs = false});
    return;
  }
  if (sample.stack.reject != Reject::kNone) {
    const bool in_part = !sample.stack.frames.empty();
    recorder_.CountRejected(std::string(Name(sample.stack.reject)) + (in_part ? ", kept in part" : ""));
    if (!in_part) return;
  }
  const bool is_mixed = sample.mixed_version != 0;
  const uint64_t version = is_mixed ? sample.mixed_version : sample.stack.version;
  if (version == 0 || version != thread.version) {
    thread.node = is_mixed ? MixedStackOf(sample) : StackOf(sample.stack, thread);
    thread.version = version;
  }
  const uint32_t node = thread.node;
  thread.cpu_ns = sample.cpu_ns;
  recorder_.Record(thread.index, {.time_ns = time_ns,
                                  .clock_ns = ClockOf(thread, time_ns),
                                  .stack = node,
                                  .state = StateOf(sample),
                                  .attempt = sample.attempt});
}

// Only the frames in which the stack differs from the thread's last one are looked up.
uint32_t SnapshotRecorder::StackOf(const cpython::ThreadStack& stack, Thread& thread) {
  profile::StackTable& table = recorder_.table();
  uint32_t node = profile::kEmptyStack;
  if (stack.truncated) node = table.Push(node, Marker("<truncated>"));
  if (stack.reject != Reject::kNone && stack.reject != Reject::kTorn) node = table.Push(node, Marker("<unreadable>"));
  std::vector<Step>& steps = thread.steps;
  if (node != thread.root) steps.clear();
  thread.root = node;
  size_t depth = 0;
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame, ++depth) {
    const uint64_t code = frame->code == nullptr ? 0 : frame->code->id;
    if (depth >= steps.size() || steps[depth].code != code || steps[depth].line != frame->line) {
      steps.resize(depth);
      steps.push_back({code, frame->line, table.Push(node, FrameOf(*frame))});
    }
    node = steps[depth].node;
  }
  steps.resize(depth);
  if (stack.reject == Reject::kTorn) node = table.Push(node, Marker("<torn>"));
  return node;
}

uint32_t SnapshotRecorder::MixedStackOf(const ThreadSample& sample) {
  profile::StackTable& table = recorder_.table();
  const cpython::ThreadStack& stack = sample.stack;
  uint32_t node = profile::kEmptyStack;
  if (stack.truncated || sample.native_end != native::StackEnd::kRoot) node = table.Push(node, Marker("<truncated>"));
  if (stack.reject != Reject::kNone) node = table.Push(node, Marker("<unreadable>"));
  for (auto frame = sample.mixed.rbegin(); frame != sample.mixed.rend(); ++frame) {
    node = table.Push(node, frame->place != nullptr ? FrameOf(*frame->place)
                                                    : FrameOf(stack.frames[static_cast<size_t>(frame->python)]));
  }
  return node;
}

uint32_t SnapshotRecorder::FrameOf(const native::Place& place) {
  profile::StackTable& table = recorder_.table();
  const std::string& name = place.function.name;
  return table.AddFrame({.kind = profile::FrameKind::kNative,
                         .name = table.Intern(name.empty() ? fmt::format("{:#x}", place.code_begin) : name),
                         .file = table.Intern(place.module),
                         .line = place.function.line});
}

uint32_t SnapshotRecorder::FrameOf(const cpython::Frame& frame) {
  if (frame.code == nullptr) return Marker("<unreadable>");
  if (frame.code->is_marker) return Marker(frame.code->name);
  profile::StackTable& table = recorder_.table();
  if (texts_.size() >= kMostCodes) texts_.clear();
  const auto [at, is_new] = texts_.try_emplace(frame.code->id);
  Texts& texts = at->second;
  if (is_new) {
    texts.name = table.Intern(frame.code->name);
    texts.qualified_name = table.Intern(frame.code->qualname);
    texts.file = table.Intern(frame.code->filename);
  }
  return table.AddFrame({.kind = profile::FrameKind::kPython,
                         .name = texts.name,
                         .qualified_name = texts.qualified_name,
                         .file = texts.file,
                         .first_line = frame.code->first_line,
                         .line = frame.line});
}

uint32_t SnapshotRecorder::Marker(std::string_view text) {
  profile::StackTable& table = recorder_.table();
  return table.AddFrame({.kind = profile::FrameKind::kMarker, .name = table.Intern(text)});
}

}  // namespace wf::sampler
