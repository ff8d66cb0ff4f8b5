// Chrome's trace event format (JSON object form), read by ui.perfetto.dev and chrome://tracing: a B event where a frame
// begins and an E where it ends, per thread; M events that name processes and threads. Times are microseconds since
// the recording began, with nanoseconds behind the point.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// A frame lasts as long as the weight of its samples, so that in CPU mode too the slices add up to the total.
#include <fmt/format.h>

#include <algorithm>

#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

class Writer {
 public:
  Writer(const StackProfile& profile, const ExportOptions& options, std::ostream& out)
      : profile_(profile), options_(options), view_(profile, options), out_(out) {}

  void Write() {
    out_ << "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":" << JsonQuoted(TitleOf(profile_.meta, options_))
         << ",\"sampling\":" << JsonQuoted(SubtitleOf(profile_, options_)) << "},\"traceEvents\":[";
    for (const Process& process : profile_.processes) {
      Event(fmt::format("\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}", process.pid,
                        JsonQuoted(process.name)));
    }
    for (const ThreadSamples& each : SamplesByThread(view_)) WriteThread(each);
    out_ << "\n]}\n";
  }

 private:
  void Event(const std::string& members) {
    out_ << (is_first_ ? "\n{" : ",\n{") << members << '}';
    is_first_ = false;
  }

  void WriteThread(const ThreadSamples& each) {
    const StackThread& thread = profile_.threads[each.thread];
    const Process* process = view_.process_of(thread);
    // A tid that is used again is another thread: it needs a row of its own, so rows are numbered by us.
    where_ = fmt::format("\"pid\":{},\"tid\":{}", process == nullptr ? 0 : process->pid, each.thread + 1);
    Event(fmt::format("\"ph\":\"M\",\"name\":\"thread_name\",{},\"args\":{{\"name\":{}}}", where_,
                      JsonQuoted(view_.ThreadLabel(thread))));
    open_.clear();
    int64_t end_ns = 0;
    for (const StackSample& sample : each.samples) {
      if (!view_.Includes(sample)) continue;
      const int64_t begin_ns = std::max(end_ns, sample.time_ns - profile_.meta.start_ns);
      if (begin_ns != end_ns) CloseTo(0, end_ns);
      ShowStack(view_.PathTo(view_.NodeOf(sample)), sample, begin_ns);
      end_ns = begin_ns + sample.weight_ns;
    }
    CloseTo(0, end_ns);
  }

  // Frames that both stacks begin with go on.
  void ShowStack(std::vector<uint32_t> path, const StackSample& sample, int64_t time_ns) {
    if (path.empty()) path.push_back(kNoStack);
    size_t same = 0;
    while (same < path.size() && same < open_.size() && path[same] == open_[same]) ++same;
    CloseTo(same, time_ns);
    for (size_t i = same; i < path.size(); ++i) Begin(path[i], sample, time_ns);
    open_ = std::move(path);
  }

  void Begin(uint32_t index, const StackSample& sample, int64_t time_ns) {
    static const ShownFrame kNothing = {
        .kind = FrameKind::kMarker, .name = {}, .file = {}, .label = "<no stack>", .module = {}};
    const ShownFrame& frame = index == kNoStack ? kNothing : view_.frames()[index];
    std::string args = fmt::format("\"file\":{}", JsonQuoted(frame.file));
    if (frame.line > 0) args += fmt::format(",\"line\":{}", frame.line);
    args += AttemptArgs(sample.attempt);
    Event(fmt::format("\"ph\":\"B\",\"name\":{},\"cat\":\"stack\",{},\"ts\":{},\"args\":{{{}}}",
                      JsonQuoted(frame.label), where_, Microseconds(time_ns), args));
  }

  // In a recording the numbers are those of the run that was met.
  std::string AttemptArgs(uint64_t attempt) const {
    if (attempt == 0) return "";
    if (attempt > profile_.attempts.size()) return fmt::format(",\"attempt\":{}", attempt);
    const StackAttempt& met = profile_.attempts[attempt - 1];
    return fmt::format(",\"run\":\"{}\",\"attempt\":{},\"task\":{}", met.run.ToString(), met.attempt,
                       JsonQuoted(met.task));
  }

  void CloseTo(size_t depth, int64_t time_ns) {
    for (; open_.size() > depth; open_.pop_back()) {
      Event(fmt::format("\"ph\":\"E\",{},\"ts\":{}", where_, Microseconds(time_ns)));
    }
  }

  static std::string Microseconds(int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

  static constexpr uint32_t kNoStack = IndexTable::kNone;
  const StackProfile& profile_;
  const ExportOptions& options_;
  StackView view_;
  std::ostream& out_;
  std::string where_;
  std::vector<uint32_t> open_;
  bool is_first_ = true;
};

}  // namespace

void WriteChromeTrace(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  Writer(profile, options, out).Write();
}

}  // namespace wf::profile
