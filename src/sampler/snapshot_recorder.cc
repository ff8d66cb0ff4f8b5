#include "sampler/snapshot_recorder.h"

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
  ++round_;
  for (const ThreadSample& sample : snapshot.threads) RecordThread(sample, time_ns);
  if (!snapshot.complete) {
    recorder_.CountRejected("list of threads cut short");
    return;
  }
  std::erase_if(threads_, [&](const auto& entry) {
    const bool gone = entry.second.round != round_;
    if (gone) recorder_.EndThread(entry.second.index, time_ns);
    return gone;
  });
}

void SnapshotRecorder::Pause(int64_t time_ns) {
  for (const auto& [key, thread] : threads_) {
    recorder_.Record(thread.index, {.time_ns = time_ns, .clock_ns = time_ns, .weighs = false});
  }
}

void SnapshotRecorder::End(int64_t time_ns) {
  for (const auto& [key, thread] : threads_) recorder_.EndThread(thread.index, time_ns);
  threads_.clear();
  texts_.clear();
}

void SnapshotRecorder::RecordThread(const ThreadSample& sample, int64_t time_ns) {
  const auto [at, is_new] = threads_.try_emplace({sample.stack.interpreter, sample.stack.state_id});
  Thread& thread = at->second;
  thread.round = round_;
  if (is_new) {
    thread.index = recorder_.AddThread(process_, sample.tid, sample.name, time_ns);
  } else if (!sample.name.empty()) {  // a name is set after the start, and may be changed
    recorder_.RenameThread(thread.index, sample.name);
  }
  if (!sample.is_wanted) {
    recorder_.Record(thread.index, {.time_ns = time_ns, .clock_ns = time_ns, .weighs = false});
    return;
  }
  if (sample.stack.reject != Reject::kNone) {
    const bool in_part = !sample.stack.frames.empty();
    recorder_.CountRejected(std::string(Name(sample.stack.reject)) + (in_part ? ", kept in part" : ""));
    if (!in_part) return;
  }
  recorder_.Record(thread.index, {.time_ns = time_ns,
                                  .clock_ns = time_ns,
                                  .stack = StackOf(sample.stack),
                                  .state = StateOf(sample),
                                  .attempt = sample.attempt});
}

uint32_t SnapshotRecorder::StackOf(const cpython::ThreadStack& stack) {
  profile::StackTable& table = recorder_.table();
  uint32_t node = profile::kEmptyStack;
  if (stack.truncated) node = table.Push(node, Marker("<truncated>"));
  if (stack.reject != Reject::kNone && stack.reject != Reject::kTorn) node = table.Push(node, Marker("<unreadable>"));
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    node = table.Push(node, FrameOf(*frame));
  }
  if (stack.reject == Reject::kTorn) node = table.Push(node, Marker("<torn>"));
  return node;
}

uint32_t SnapshotRecorder::FrameOf(const cpython::Frame& frame) {
  if (frame.code == nullptr) return Marker("<unreadable>");
  profile::StackTable& table = recorder_.table();
  if (texts_.size() >= kMostCodes) texts_.clear();
  const auto [at, is_new] = texts_.try_emplace(frame.code.get());
  Texts& texts = at->second;
  if (is_new) {
    texts.code = frame.code;
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
