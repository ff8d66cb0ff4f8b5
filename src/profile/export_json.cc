// Our own JSON and JSON lines: all that was recorded, as the options show it. docs/formats/stacks.md.
#include <fmt/format.h>

#include <functional>

#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

constexpr int kVersion = 1;
constexpr std::string_view kKinds[] = {"python", "native", "kernel", "marker"};

std::string FrameMembers(const ShownFrame& frame) {
  std::string text = fmt::format("\"kind\":\"{}\",\"name\":{}", kKinds[static_cast<size_t>(frame.kind)],
                                 JsonQuoted(frame.name.empty() ? frame.label : frame.name));
  if (!frame.file.empty()) text += ",\"file\":" + JsonQuoted(frame.file);
  if (frame.first_line > 0) text += fmt::format(",\"first_line\":{}", frame.first_line);
  if (frame.line > 0) text += fmt::format(",\"line\":{}", frame.line);
  return text;
}

std::string ProcessMembers(const Process& process) {
  return fmt::format("\"id\":{},\"pid\":{},\"host\":{},\"name\":{}", process.id, process.pid, JsonQuoted(process.host),
                     JsonQuoted(process.name));
}

std::string ThreadMembers(const StackThread& thread) {
  return fmt::format("\"process\":{},\"tid\":{},\"name\":{},\"first_ns\":{},\"last_ns\":{}", thread.process, thread.tid,
                     JsonQuoted(thread.name), thread.first_ns, thread.last_ns);
}

// What the attempts of samples are in a recording; a run's own are in the run.
std::string AttemptMembers(const StackAttempt& attempt) {
  return fmt::format("\"id\":{},\"task\":{},\"run\":\"{}\",\"attempt\":{},\"node\":{},\"process\":{},\"tid\":{}",
                     attempt.id, JsonQuoted(attempt.task), attempt.run.ToString(), attempt.attempt, attempt.node,
                     attempt.process, attempt.tid);
}

std::string StateJson(uint8_t state) {
  std::string text;
  for (const auto& [bit, name] : {std::pair(kOnCpu, "cpu"), std::pair(kIdle, "idle"), std::pair(kHoldsGil, "gil")}) {
    if ((state & bit) != 0) text += fmt::format("{}\"{}\"", text.empty() ? "" : ",", name);
  }
  return "[" + text + "]";
}

// `[a,b,c]` of a function of each sample that is in.
void WriteColumn(const StackView& view, const char* name, const std::function<int64_t(const StackSample&)>& value,
                 std::ostream& out) {
  out << ",\n\"" << name << "\":[";
  const char* comma = "";
  for (const StackSample& sample : view.profile().samples) {
    if (!view.Includes(sample)) continue;
    out << comma << value(sample);
    comma = ",";
  }
  out << ']';
}

template <typename Rows, typename Members>
void WriteObjects(const char* name, const Rows& rows, const Members& members, std::ostream& out) {
  out << ",\n\"" << name << "\":[";
  const char* comma = "\n";
  for (const auto& row : rows) {
    out << comma << '{' << members(row) << '}';
    comma = ",\n";
  }
  out << ']';
}

}  // namespace

void WriteStacksJson(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  StackView view(profile, options);
  const std::vector<FoldedWeight> weights = view.Fold();
  out << fmt::format("{{\"version\":{},\"kind\":\"stacks\",\"total_weight_ns\":{},\"meta\":{}", kVersion,
                     weights[0].total_ns, MetaJson(profile.meta));
  WriteObjects("processes", profile.processes, &ProcessMembers, out);
  WriteObjects("threads", profile.threads, &ThreadMembers, out);
  if (!profile.attempts.empty()) WriteObjects("attempts", profile.attempts, &AttemptMembers, out);
  WriteObjects("frames", view.frames(), &FrameMembers, out);
  // Stack 0 is the empty one; it has neither caller nor frame.
  out << ",\n\"stacks\":{\"parent\":[null";
  for (uint32_t node = 1; node < view.node_count(); ++node) out << ',' << view.node(node).parent;
  out << "],\n\"frame\":[null";
  for (uint32_t node = 1; node < view.node_count(); ++node) out << ',' << view.node(node).frame;
  out << "]},\n\"samples\":{\"length\":";
  size_t length = 0;
  for (const StackSample& sample : profile.samples) length += view.Includes(sample) ? 1 : 0;
  out << length;
  WriteColumn(view, "time_ns", [](const StackSample& sample) { return sample.time_ns; }, out);
  WriteColumn(view, "span_ns", [](const StackSample& sample) { return sample.span_ns; }, out);
  WriteColumn(view, "weight_ns", [](const StackSample& sample) { return sample.weight_ns; }, out);
  WriteColumn(view, "thread", [](const StackSample& sample) { return int64_t{sample.thread}; }, out);
  WriteColumn(view, "stack", [&](const StackSample& sample) { return int64_t{view.NodeOf(sample)}; }, out);
  WriteColumn(view, "count", [](const StackSample& sample) { return int64_t{sample.count}; }, out);
  WriteColumn(view, "state", [](const StackSample& sample) { return int64_t{sample.state}; }, out);
  WriteColumn(view, "attempt", [](const StackSample& sample) { return static_cast<int64_t>(sample.attempt); }, out);
  out << "}}\n";
}

void WriteStacksJsonLines(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  StackView view(profile, options);
  out << fmt::format("{{\"type\":\"meta\",\"version\":{},\"meta\":{}}}\n", kVersion, MetaJson(profile.meta));
  for (const Process& process : profile.processes) out << "{\"type\":\"process\"," << ProcessMembers(process) << "}\n";
  for (size_t i = 0; i < profile.threads.size(); ++i) {
    out << fmt::format("{{\"type\":\"thread\",\"id\":{},{}}}\n", i, ThreadMembers(profile.threads[i]));
  }
  for (const StackAttempt& attempt : profile.attempts)
    out << "{\"type\":\"attempt\"," << AttemptMembers(attempt) << "}\n";
  // A frame and a stack come before the first line that names them, so that a reader needs to go through once.
  size_t frames = 0;
  uint32_t nodes = 1;
  int64_t total_ns = 0;
  uint64_t lines = 0;
  for (const StackSample& sample : profile.samples) {
    if (!view.Includes(sample)) continue;
    const uint32_t stack = view.NodeOf(sample);
    for (; frames < view.frames().size(); ++frames) {
      out << fmt::format("{{\"type\":\"frame\",\"id\":{},{}}}\n", frames, FrameMembers(view.frames()[frames]));
    }
    for (; nodes < view.node_count(); ++nodes) {
      out << fmt::format("{{\"type\":\"stack\",\"id\":{},\"parent\":{},\"frame\":{}}}\n", nodes,
                         view.node(nodes).parent, view.node(nodes).frame);
    }
    out << fmt::format(
        "{{\"type\":\"sample\",\"time_ns\":{},\"span_ns\":{},\"weight_ns\":{},\"thread\":{},\"stack\":{},\"count\":{},"
        "\"state\":{},\"attempt\":{}}}\n",
        sample.time_ns, sample.span_ns, sample.weight_ns, sample.thread, stack, sample.count, StateJson(sample.state),
        sample.attempt);
    total_ns += sample.weight_ns;
    ++lines;
  }
  out << fmt::format("{{\"type\":\"end\",\"samples\":{},\"total_weight_ns\":{}}}\n", lines, total_ns);
}

}  // namespace wf::profile
