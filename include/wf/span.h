// Span: a named piece of time inside a task.
//
// Where a task does several things, spans say how long each took. A span begins where it is declared and ends with its
// scope; spans nest. They appear in RunReport::spans, each with its task, wall time and the CPU time of its thread.
//
//   flow.Add({.name = "fit"}, [](const Table& table) {
//     wf::Span read("read features");
//     ...
//   });
//
// Outside a task (no workflow runs, or on a thread that the task started itself) a span does nothing. It costs two
// readings of two clocks, about 0.5 us, so that it suits pieces from some 50 us upwards.
//
// Threading: a span is begun and ended by one thread; that is what a local variable does.
#ifndef WF_SPAN_H_
#define WF_SPAN_H_

#include <cstddef>
#include <string_view>

namespace wf {

class Span {
 public:
  // The name is copied. Names should be few and fixed: put counts and file names elsewhere.
  explicit Span(std::string_view name) noexcept;
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void* attempt_;  // the attempt that this thread is in; null: nothing is recorded
  size_t index_;   // of this span within it
};

}  // namespace wf

#endif  // WF_SPAN_H_
