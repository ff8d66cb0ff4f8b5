#include "dag/span_record.h"

#include <new>

#include "base/clock.h"
#include "wf/span.h"

namespace wf::dag {

namespace {

thread_local SpanRecord* current_record = nullptr;

}  // namespace

SpanRecord::SpanRecord(const void* owner, NodeId node, uint32_t attempt, size_t max_spans)
    : owner_(owner), node_(node), attempt_(attempt), max_spans_(max_spans) {
  current_record = this;
}

SpanRecord::~SpanRecord() { current_record = nullptr; }

SpanRecord* SpanRecord::Current() { return current_record; }

size_t SpanRecord::Begin(std::string_view name) {
  if (spans_.size() >= max_spans_) {
    ++dropped_;
    return SIZE_MAX;
  }
  spans_.push_back({.node = node_,
                    .attempt = attempt_,
                    .depth = depth_++,
                    .name = std::string(name),
                    .start_ns = base::MonotonicNs(),
                    .cpu_ns = -base::ThreadCpuNs()});
  return spans_.size() - 1;
}

void SpanRecord::End(size_t index) {
  if (index >= spans_.size()) return;
  SpanReading& span = spans_[index];
  span.cpu_ns += base::ThreadCpuNs();
  span.end_ns = base::MonotonicNs();
  --depth_;
}

}  // namespace wf::dag

namespace wf {

// A span never fails its task: one for whose record there is no memory is not recorded.
Span::Span(std::string_view name) noexcept : attempt_(dag::SpanRecord::Current()), index_(SIZE_MAX) {
  if (attempt_ == nullptr) return;
  try {
    index_ = static_cast<dag::SpanRecord*>(attempt_)->Begin(name);
  } catch (const std::bad_alloc&) {
    attempt_ = nullptr;
  }
}

Span::~Span() {
  // A span that outlives its attempt, or ends on another thread, has lost its place.
  if (attempt_ != nullptr && attempt_ == dag::SpanRecord::Current())
    static_cast<dag::SpanRecord*>(attempt_)->End(index_);
}

}  // namespace wf
