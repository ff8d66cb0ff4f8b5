#include "app/dump_frames.h"

#include <cstddef>

#include "base/redact.h"
#include "cpython/locals.h"

namespace wf::app {
namespace {

constexpr cpython::ValueLimits kLongLimits = {.bytes = 4096, .items = 256, .depth = 16, .objects = 4096};

report::DumpFrame NativeFrameOf(const native::Place& place) {
  report::DumpFrame frame;
  frame.native = true;
  frame.name = place.function.name;
  frame.filename = place.function.file;
  frame.line = place.function.line;
  frame.inlined = place.function.is_inlined;
  frame.module = place.module;
  frame.address = place.address;
  return frame;
}

void AddFrames(const sampler::ThreadSample& from, FrameDetails& details, report::DumpThread* thread) {
  const auto& frames = from.stack.frames;
  if (from.mixed.empty()) {
    for (const cpython::Frame& frame : frames) thread->frames.push_back(details.Of(frame));
  }
  for (const sampler::MixedFrame& frame : from.mixed) {
    thread->frames.push_back(frame.place != nullptr ? NativeFrameOf(*frame.place)
                                                    : details.Of(frames[static_cast<size_t>(frame.python)]));
  }
  if (from.native_end != native::StackEnd::kRoot) thread->native_end = Name(from.native_end);
}

}  // namespace

report::DumpFrame FrameDetails::Of(const cpython::Frame& from) {
  report::DumpFrame frame;
  if (from.code == nullptr) return frame;
  frame.name = from.code->name;
  frame.marker = from.code->is_marker;
  if (frame.marker) return frame;
  frame.qualname = from.code->qualname;
  frame.filename = from.code->filename;
  frame.short_filename = paths_.Shorten(from.code->filename);
  frame.line = from.line;
  if (request_.source) frame.source = sources_.Of(from.code->filename, from.line);
  if (request_.locals != Locals::kNone) frame.locals = LocalsOf(from);
  return frame;
}

std::vector<report::DumpLocal> FrameDetails::LocalsOf(const cpython::Frame& from) {
  const bool whole = request_.locals == Locals::kLong;
  std::vector<report::DumpLocal> locals;
  for (auto& local : ReadLocals(memory_, layout_, from, whole ? kLongLimits : cpython::ValueLimits())) {
    if (!whole) local.text = base::IsSecretName(local.name) ? "***" : base::RedactText(local.text);
    locals.push_back({std::move(local.name), std::move(local.text), local.address, local.argument});
  }
  return locals;
}

report::DumpThread ThreadOf(const sampler::ThreadSample& from, FrameDetails& details) {
  report::DumpThread thread;
  thread.tid = from.tid;
  thread.pthread_id = from.stack.pthread_id;
  thread.interpreter = from.interpreter;
  thread.name = from.name;
  thread.state = std::string(1, from.state);
  thread.active = from.active;
  thread.holds_gil = from.stack.holds_gil;
  thread.truncated = from.stack.truncated;
  if (from.stack.reject != cpython::Reject::kNone) thread.reject = Name(from.stack.reject);
  thread.has_python = from.has_python;
  AddFrames(from, details, &thread);
  return thread;
}

void AddNote(const std::string& note, report::DumpProcess* process) {
  process->note += (process->note.empty() ? "" : "; ") + note;
}

}  // namespace wf::app
