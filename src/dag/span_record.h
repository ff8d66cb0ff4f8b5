// Where wf::Span writes: the attempt that the calling thread is in.
#ifndef WF_DAG_SPAN_RECORD_H_
#define WF_DAG_SPAN_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dag/observer.h"

namespace wf::dag {

// The spans of one attempt, in the order of their beginning. While it lives, spans of this thread go there. Owned by
// the thread that runs the attempt, as a local variable.
class SpanRecord {
 public:
  SpanRecord(const void* owner, NodeId node, uint32_t attempt, size_t max_spans);
  ~SpanRecord();
  SpanRecord(const SpanRecord&) = delete;
  SpanRecord& operator=(const SpanRecord&) = delete;

  // The record of the calling thread; null outside an attempt.
  static SpanRecord* Current();

  // Returns the index for End; SIZE_MAX, which End ignores, when there are max_spans already.
  size_t Begin(std::string_view name);
  void End(size_t index);

  const void* owner() const { return owner_; }  // the pool
  NodeId node() const { return node_; }
  uint64_t dropped() const { return dropped_; }
  std::vector<SpanReading>& spans() { return spans_; }

 private:
  const void* const owner_;
  const NodeId node_;
  const uint32_t attempt_;
  const size_t max_spans_;
  uint32_t depth_ = 0;
  uint64_t dropped_ = 0;
  std::vector<SpanReading> spans_;
};

}  // namespace wf::dag

#endif  // WF_DAG_SPAN_RECORD_H_
