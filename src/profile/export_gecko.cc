// Firefox Profiler, processed format, preprocessedProfileVersion 57 (one array of strings for all threads since 56;
// tables per thread). Described in the profiler's docs-developer/processed-profile-format.md and CHANGELOG-formats.md.
// Tables are objects of columns with a `length`. Times and weights are milliseconds; weightType "tracing-ms".
#include <fmt/format.h>

#include <map>

#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

// Versions of the formats that are written: processed, and Firefox's own that it descends from.
constexpr int kProcessedVersion = 57;
constexpr int kGeckoVersion = 32;

// A column of a table as JSON.
class Column {
 public:
  void Add(std::string_view json) {
    if (!text_.empty()) text_ += ',';
    text_ += json;
    ++size_;
  }
  void Add(int64_t value) { Add(std::to_string(value)); }
  size_t size() const { return size_; }
  std::string json() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
  size_t size_ = 0;
};

std::string Milliseconds(int64_t ns) { return fmt::format("{}.{:06}", ns / 1'000'000, ns % 1'000'000); }

std::string Table(const std::vector<std::pair<const char*, const Column*>>& columns) {
  std::string text = "{";
  for (const auto& [name, column] : columns) text += fmt::format("\"{}\":{},", name, column->json());
  return text + fmt::format("\"length\":{}}}", columns.front().second->size());
}

// A column of so many equal values.
Column Same(size_t rows, std::string_view json) {
  Column column;
  for (size_t i = 0; i < rows; ++i) column.Add(json);
  return column;
}

// Categories by FrameKind; the first grey one is the default that the format asks for.
constexpr std::string_view kCategories = R"([{"name":"Other","color":"grey","subcategories":["Other"]},)"
                                         R"({"name":"Python","color":"yellow","subcategories":["Other"]},)"
                                         R"({"name":"Native","color":"blue","subcategories":["Other"]},)"
                                         R"({"name":"Kernel","color":"orange","subcategories":["Other"]}])";

int CategoryOf(FrameKind kind) {
  switch (kind) {
    case FrameKind::kPython: return 1;
    case FrameKind::kNative: return 2;
    case FrameKind::kKernel: return 3;
    case FrameKind::kMarker: break;
  }
  return 0;
}

class Strings {
 public:
  int64_t Number(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, static_cast<int64_t>(numbers_.size()));
    if (is_new) all_.Add(JsonQuoted(text));
    return at->second;
  }
  std::string json() const { return all_.json(); }

 private:
  std::map<std::string, int64_t> numbers_;
  Column all_;
};

// The tables of one thread, filled sample by sample.
class ThreadTables {
 public:
  ThreadTables(StackView& view, Strings& strings) : view_(view), strings_(strings) {}

  void Add(const StackSample& sample) {
    const uint32_t node = view_.NodeOf(sample);
    stack_.Add(node == 0 ? "null" : std::to_string(StackOf(node)));
    time_.Add(Milliseconds(std::max<int64_t>(0, sample.time_ns - view_.profile().meta.start_ns)));
    weight_.Add(Milliseconds(sample.weight_ns));
  }

  std::string json() const {
    const size_t frames = frame_func_.size();
    const size_t functions = func_name_.size();
    const Column none_of_frames = Same(frames, "null"), zero_of_frames = Same(frames, "0"),
                 no_address = Same(frames, "-1");
    const Column false_of_functions = Same(functions, "false"), none_of_functions = Same(functions, "null");
    const Column no_resource = Same(functions, "-1");
    const Column empty;
    return fmt::format(
        "\"samples\":{},\n\"stackTable\":{},\n\"frameTable\":{},\n\"funcTable\":{},\n\"resourceTable\":{},"
        "\"nativeSymbols\":{},\"markers\":{}",
        "{\"weightType\":\"tracing-ms\"," +
            Table({{"stack", &stack_}, {"time", &time_}, {"weight", &weight_}}).substr(1),
        Table({{"prefix", &stack_prefix_}, {"frame", &stack_frame_}}),
        Table({{"address", &no_address},
               {"inlineDepth", &zero_of_frames},
               {"category", &frame_category_},
               {"subcategory", &zero_of_frames},
               {"func", &frame_func_},
               {"nativeSymbol", &none_of_frames},
               {"innerWindowID", &zero_of_frames},
               {"line", &frame_line_},
               {"column", &none_of_frames}}),
        Table({{"name", &func_name_},
               {"isJS", &false_of_functions},
               {"relevantForJS", &false_of_functions},
               {"resource", &no_resource},
               {"fileName", &func_file_},
               {"lineNumber", &func_line_},
               {"columnNumber", &none_of_functions}}),
        Table({{"lib", &empty}, {"name", &empty}, {"host", &empty}, {"type", &empty}}),
        Table({{"libIndex", &empty}, {"address", &empty}, {"name", &empty}, {"functionSize", &empty}}),
        Table({{"data", &empty},
               {"name", &empty},
               {"startTime", &empty},
               {"endTime", &empty},
               {"phase", &empty},
               {"category", &empty}}));
  }

 private:
  uint32_t StackOf(uint32_t node) {
    // Callers first, and without recursion.
    std::vector<uint32_t> missing;
    for (uint32_t at = node; at != 0 && stacks_.count(at) == 0; at = view_.node(at).parent) missing.push_back(at);
    for (; !missing.empty(); missing.pop_back()) {
      const StackNode& added = view_.node(missing.back());
      stacks_[missing.back()] = static_cast<uint32_t>(stack_frame_.size());
      stack_prefix_.Add(added.parent == 0 ? "null" : std::to_string(stacks_[added.parent]));
      stack_frame_.Add(FrameOf(added.frame));
    }
    return stacks_[node];
  }

  int64_t FrameOf(uint32_t index) {
    const auto [at, is_new] = frames_.try_emplace(index, static_cast<int64_t>(frames_.size()));
    if (!is_new) return at->second;
    const ShownFrame& frame = view_.frames()[index];
    frame_func_.Add(FunctionOf(frame));
    frame_category_.Add(CategoryOf(frame.kind));
    frame_line_.Add(frame.line > 0 ? std::to_string(frame.line) : "null");
    return at->second;
  }

  int64_t FunctionOf(const ShownFrame& frame) {
    const auto key = std::tuple(frame.name, frame.file, frame.first_line);
    const auto [at, is_new] = functions_.try_emplace(key, static_cast<int64_t>(functions_.size()));
    if (!is_new) return at->second;
    func_name_.Add(strings_.Number(frame.name.empty() ? frame.label : frame.name));
    func_file_.Add(frame.file.empty() ? "null" : std::to_string(strings_.Number(frame.file)));
    func_line_.Add(frame.first_line > 0 ? std::to_string(frame.first_line) : "null");
    return at->second;
  }

  StackView& view_;
  Strings& strings_;
  std::map<uint32_t, uint32_t> stacks_;
  std::map<uint32_t, int64_t> frames_;
  std::map<std::tuple<std::string, std::string, int32_t>, int64_t> functions_;
  Column stack_, time_, weight_, stack_prefix_, stack_frame_, frame_func_, frame_category_, frame_line_;
  Column func_name_, func_file_, func_line_;
};

void WriteThread(StackView& view, const ThreadSamples& each, Strings& strings, std::ostream& out) {
  const StackProfile& profile = view.profile();
  const StackThread& thread = profile.threads[each.thread];
  const Process* process = view.process_of(thread);
  ThreadTables tables(view, strings);
  for (const StackSample& sample : each.samples) {
    if (view.Includes(sample)) tables.Add(sample);
  }
  const int32_t pid = process == nullptr ? 0 : process->pid;
  const auto since_start = [&](int64_t ns) { return Milliseconds(std::max<int64_t>(0, ns - profile.meta.start_ns)); };
  out << fmt::format(
             "{{\"processType\":\"default\",\"processName\":{},\"processStartupTime\":0,\"processShutdownTime\":null,"
             "\"registerTime\":{},\"unregisterTime\":{},\"pausedRanges\":[],\"name\":{},\"isMainThread\":{},\"pid\":\"{"
             "}\","
             "\"tid\":{},\n",
             JsonQuoted(view.ProcessLabel(thread)), since_start(thread.first_ns), since_start(thread.last_ns),
             JsonQuoted(view.ThreadLabel(thread)), thread.tid == pid, pid, thread.tid)
      << tables.json() << "}";
}

}  // namespace

void WriteGecko(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  StackView view(profile, options);
  Strings strings;
  const double interval_ms = profile.meta.rate_hz > 0 ? 1e3 / profile.meta.rate_hz : 1;
  const auto wall_ms = static_cast<double>(profile.meta.start_wall_ns) / 1e6;
  out << fmt::format(
      "{{\"meta\":{{\"version\":{},\"preprocessedProfileVersion\":{},\"interval\":{},\"startTime\":{:.3f},"
      "\"processType\":0,\"product\":{},\"stackwalk\":0,\"symbolicated\":true,\"debug\":false,\"platform\":\"Linux\","
      "\"misc\":{},\"extensions\":{{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0}},\"categories\":{},"
      "\"markerSchema\":[],\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true}},\n\"libs\":[],"
      "\n\"threads\":[",
      kGeckoVersion, kProcessedVersion, interval_ms, wall_ms, JsonQuoted(TitleOf(profile.meta, options)),
      JsonQuoted(SubtitleOf(profile, options)), kCategories);
  const char* comma = "\n";
  for (const ThreadSamples& each : SamplesByThread(view)) {
    out << comma;
    WriteThread(view, each, strings, out);
    comma = ",\n";
  }
  out << "],\n\"pages\":[],\"shared\":{\"stringArray\":" << strings.json() << "}}\n";
}

}  // namespace wf::profile
