#include "sampler/native_stacks.h"

#include <algorithm>

#include "cpython/stack.h"
#include "sampler/merge_stacks.h"

namespace wf::sampler {
namespace {

std::vector<PythonPart> PythonPartsOf(const cpython::ThreadStack& stack, const std::vector<uint64_t>& anchors) {
  std::vector<PythonPart> parts;
  size_t next = 0;
  for (const cpython::Frame& frame : stack.frames) {
    PythonPart& part = parts.emplace_back();
    part.is_entry = frame.is_entry;
    if (frame.is_entry && next < anchors.size()) part.anchor = anchors[next++];
  }
  return parts;
}

}  // namespace

bool NativeStacks::Merge(const native::Registers& registers, const native::ReadMemory& memory,
                         const std::vector<uint64_t>& anchors, ThreadSample* thread) {
  const native::NativeStack stack = native::Unwind(registers, space_, memory, most_frames_);
  std::vector<NativePart> native;
  bool all_mapped = true;
  for (const native::NativeFrame& frame : stack.frames) {
    all_mapped &= space_.Find(frame.code) != nullptr;
    const bool is_eval = IsEvalName(space_.PlacesAt(frame.code).back().function.name);
    native.push_back({.begin = frame.stack, .end = frame.cfa, .is_eval = is_eval});
  }
  const bool python_whole = !thread->stack.truncated && thread->stack.reject == cpython::Reject::kNone;
  const bool whole = python_whole && stack.end == native::StackEnd::kRoot;
  thread->native_end = stack.end;
  thread->mixed.clear();
  for (const MergedPart& part : MergeStacks(PythonPartsOf(thread->stack, anchors), native, whole)) {
    if (part.is_python) {
      thread->mixed.push_back({.python = static_cast<int32_t>(part.index)});
      continue;
    }
    for (const native::Place& place : space_.PlacesAt(stack.frames[part.index].code)) {
      thread->mixed.push_back({.place = &place});
    }
  }
  return all_mapped;
}

}  // namespace wf::sampler
