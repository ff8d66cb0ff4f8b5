// speedscope's file format (https://www.speedscope.app/file-format-schema.json): shared frames, and a sampled profile
// per thread with as many weights as samples. A frame is {name, file, line}; a sample is a list of frame numbers, the
// outermost first. Times and weights are nanoseconds since the recording began.
#include <algorithm>

#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

void WriteFrames(const StackView& view, std::ostream& out) {
  out << "\"shared\":{\"frames\":[";
  const char* comma = "";
  for (const ShownFrame& frame : view.frames()) {
    std::string text = "{\"name\":";
    AppendJson(text, frame.name.empty() ? frame.label : frame.name);
    if (!frame.file.empty()) {
      text += ",\"file\":";
      AppendJson(text, frame.file);
    }
    if (frame.line > 0) text += ",\"line\":" + std::to_string(frame.line);
    out << comma << '\n' << text << '}';
    comma = ",";
  }
  out << "]}";
}

std::string Path(const StackView& view, uint32_t node) {
  std::string text = "[";
  for (const uint32_t frame : view.PathTo(node)) text += (text.size() > 1 ? "," : "") + std::to_string(frame);
  return text + "]";
}

void WriteThread(StackView& view, const StackThread& thread, std::span<const StackSample> samples, std::ostream& out) {
  std::string weights;
  int64_t total_ns = 0;
  out << "{\"type\":\"sampled\",\"name\":" << JsonQuoted(view.ProcessLabel(thread) + ", " + view.ThreadLabel(thread))
      << ",\"unit\":\"nanoseconds\",\"samples\":[";
  int64_t start_ns = -1;
  for (const StackSample& sample : samples) {
    if (!view.Includes(sample)) continue;
    if (start_ns < 0) start_ns = std::max<int64_t>(0, sample.time_ns - view.profile().meta.start_ns);
    out << (weights.empty() ? "\n" : ",\n") << Path(view, view.NodeOf(sample));
    weights += (weights.empty() ? "" : ",") + std::to_string(sample.weight_ns);
    total_ns += sample.weight_ns;
  }
  start_ns = std::max<int64_t>(0, start_ns);
  out << "],\"weights\":[" << weights << "],\"startValue\":" << start_ns << ",\"endValue\":" << start_ns + total_ns
      << "}";
}

}  // namespace

void WriteSpeedscope(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  StackView view(profile, options);
  (void)view.Fold();  // so that all frames are known before the first one is written
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"workflow\",\"name\":"
      << JsonQuoted(TitleOf(profile.meta, options) + " · " + SubtitleOf(profile, options))
      << ",\"activeProfileIndex\":0,\n";
  WriteFrames(view, out);
  out << ",\n\"profiles\":[";
  const char* comma = "\n";
  for (const ThreadSamples& each : SamplesByThread(view)) {
    out << comma;
    WriteThread(view, profile.threads[each.thread], each.samples, out);
    comma = ",\n";
  }
  out << "]}\n";
}

}  // namespace wf::profile
