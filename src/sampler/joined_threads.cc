#include "sampler/joined_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wf::sampler {
namespace {

using cpython::Reject;

bool IsEmpty(const ThreadSample& thread) { return thread.stack.frames.empty() && thread.stack.reject == Reject::kNone; }

// What is above it is not known: nothing can stand on it.
bool EndsBeforeLeaf(const cpython::ThreadStack& stack) {
  return stack.reject == Reject::kTorn || (stack.reject != Reject::kNone && stack.frames.empty());
}

}  // namespace

bool ThreadJoiner::Join(std::vector<ThreadSample>* threads) {
  std::map<int32_t, std::vector<size_t>> of_tid;
  for (size_t i = 0; i < threads->size(); ++i) {
    if ((*threads)[i].tid != 0) of_tid[(*threads)[i].tid].push_back(i);
  }
  std::vector<bool> is_joined(threads->size());
  for (auto& [tid, parts] : of_tid) {
    std::stable_sort(parts.begin(), parts.end(), [&](size_t a, size_t b) {
      return (*threads)[a].stack.interpreter < (*threads)[b].stack.interpreter;
    });
    for (size_t i = 1; i < parts.size(); ++i) {
      Add((*threads)[parts[i]], &(*threads)[parts[0]]);
      is_joined[parts[i]] = true;
    }
    // Its place is the first of them.
    const size_t first = *std::min_element(parts.begin(), parts.end());
    if (first == parts[0]) continue;
    std::swap((*threads)[first], (*threads)[parts[0]]);
    is_joined[first] = false;
    is_joined[parts[0]] = true;
  }
  size_t i = 0;
  return std::erase_if(*threads, [&](const ThreadSample&) { return is_joined[i++]; }) > 0;
}

void ThreadJoiner::Add(const ThreadSample& inner, ThreadSample* outer) {
  if (inner.active) outer->state = inner.state;
  outer->active |= inner.active;
  outer->cpu_ns = std::max(outer->cpu_ns, inner.cpu_ns);
  if (outer->name.empty()) outer->name = inner.name;
  cpython::ThreadStack& stack = outer->stack;
  stack.version = 0;
  // It cannot be in both: the inner stack is what it was a moment ago.
  const bool has_left = stack.holds_gil && !IsEmpty(inner);
  stack.holds_gil |= inner.stack.holds_gil;
  stack.ran_meanwhile |= inner.stack.ran_meanwhile;
  if (IsEmpty(inner) || has_left || EndsBeforeLeaf(stack)) return;
  outer->interpreter = inner.stack.interpreter;
  if (stack.reject == Reject::kNone) stack.reject = inner.stack.reject;
  auto frames = inner.stack.frames;
  if (inner.stack.truncated) {
    stack.truncated = true;
  } else {
    std::shared_ptr<const cpython::Code>& marker = markers_[inner.stack.interpreter];
    if (marker == nullptr) marker = cpython::MakeMarker(fmt::format("<interpreter {}>", inner.stack.interpreter));
    frames.push_back({.code = marker});
    frames.insert(frames.end(), stack.frames.begin(), stack.frames.end());
  }
  stack.frames = std::move(frames);
}

}  // namespace wf::sampler
