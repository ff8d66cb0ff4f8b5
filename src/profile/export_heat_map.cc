// Heat map: the source, each line with the time that stacks spent in it and below it. One HTML file without scripts,
// network or other files. Sources are read as they are now; where one cannot be had, only the lines that were seen
// stand there with the names of their functions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "profile/call_sums.h"
#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

constexpr size_t kMostFiles = 60;
constexpr size_t kWholeFileLines = 1'500;  // of a longer one only what lies around hot lines
constexpr size_t kAround = 7;
constexpr size_t kMostLineBytes = 400;

constexpr std::string_view kStyle = R"css(
body { font: 14px system-ui, sans-serif; margin: 16px; color: #111; background: #fff; }
h1 { font-size: 18px; margin: 0 0 4px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; color: #444; }
summary { cursor: pointer; padding: 6px 8px; background: #f1f1f1; border-radius: 4px; margin-top: 6px; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 9em; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; font: 12px ui-monospace, "DejaVu Sans Mono", monospace; margin: 4px 0 12px; width: 100%; }
th { text-align: right; font-weight: normal; color: #666; padding: 2px 8px; width: 5.5em; }
th:last-child { text-align: left; width: auto; }
td { text-align: right; padding: 0 8px; white-space: pre; color: #555; }
td:last-child { text-align: left; color: #111; white-space: pre-wrap; overflow-wrap: anywhere; }
tr.gap td { color: #aaa; }
)css";

struct Line {
  FoldedWeight weight;
  std::set<std::string> functions;
};

struct File {
  std::string name;
  int64_t self_ns = 0;
  std::map<int32_t, Line> lines;
};

std::vector<File> FilesOf(StackView& view, const std::vector<FoldedWeight>& weights) {
  std::map<std::pair<std::string, int32_t>, uint32_t> numbers;
  std::vector<uint32_t> key_of_frame;
  for (const ShownFrame& frame : view.frames()) {
    const auto key = std::pair(frame.file, frame.line);
    key_of_frame.push_back(numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second);
  }
  const CallSums sums = SumCalls(view, weights, key_of_frame, numbers.size());
  std::map<std::string, File> files;
  for (const auto& [key, number] : numbers) {
    File& file = files[key.first];
    file.name = key.first;
    file.self_ns += sums.keys[number].self_ns;
    file.lines[key.second].weight = sums.keys[number];
  }
  for (const ShownFrame& frame : view.frames()) files[frame.file].lines[frame.line].functions.insert(frame.name);
  std::vector<File> order;
  for (auto& [name, file] : files) order.push_back(std::move(file));
  std::stable_sort(order.begin(), order.end(), [](const File& a, const File& b) { return a.self_ns > b.self_ns; });
  return order;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(CleanText(line, kMostLineBytes));
    begin = end + 1;
  }
  return lines;
}

// Tabs stay what they are; everything else as in any text.
std::string SourceEscaped(const std::string& line) {
  std::string out;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t tab = std::min(line.find('\t', begin), line.size());
    out += XmlEscaped(std::string_view(line).substr(begin, tab - begin));
    if (tab < line.size()) out += '\t';
    begin = tab + 1;
  }
  return out;
}

class Writer {
 public:
  Writer(const StackProfile& profile, const ExportOptions& options, const ExportOptions& by_line, std::ostream& out)
      : profile_(profile), options_(options), view_(profile, by_line), weights_(view_.Fold()), out_(out) {}

  void Write() {
    const std::string title = XmlEscaped(TitleOf(profile_.meta, options_));
    out_ << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>" << title << "</title><style>"
         << kStyle << "</style></head><body>\n<h1>" << title << "</h1>\n<p>"
         << XmlEscaped(SubtitleOf(profile_, options_)) << "<br/>" << DurationText(total_ns())
         << " in all · sources as they are now</p>\n";
    const std::vector<File> files = FilesOf(view_, weights_);
    int64_t rest_ns = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      if (i < kMostFiles) {
        WriteFile(files[i], i == 0);
      } else {
        rest_ns += files[i].self_ns;
      }
    }
    if (files.size() > kMostFiles) WriteRest(fmt::format("in {} more files", files.size() - kMostFiles), rest_ns);
    if (weights_[0].self_ns > 0) WriteRest("without a stack", weights_[0].self_ns);
    out_ << "</body></html>\n";
  }

 private:
  int64_t total_ns() const { return weights_[0].total_ns; }

  void WriteRest(const std::string& what, int64_t ns) {
    out_ << "<details data-self-ns=\"" << ns << "\"><summary><b>" << PercentText(ns, total_ns()) << " · "
         << DurationText(ns) << "</b> " << what << "</summary></details>\n";
  }

  void WriteFile(const File& file, bool is_open) {
    hottest_ns_ = 1;
    for (const auto& [number, line] : file.lines) hottest_ns_ = std::max(hottest_ns_, line.weight.self_ns);
    out_ << "<details data-self-ns=\"" << file.self_ns << (is_open ? "\" open=\"" : "") << "\"><summary><b>"
         << PercentText(file.self_ns, total_ns()) << " · " << DurationText(file.self_ns) << "</b> "
         << (file.name.empty() ? "no file" : XmlEscaped(file.name))
         << "</summary>\n<table><tr><th>line</th><th>itself</th><th>total</th><th></th></tr>\n";
    std::optional<std::string> text;
    if (options_.read_source && !file.name.empty()) text = options_.read_source(file.name);
    if (text) {
      WriteSource(file, SplitLines(*text));
    } else {
      for (const auto& [number, line] : file.lines) WriteLine(number, &line, FunctionsOf(line));
    }
    out_ << "</table></details>\n";
  }

  void WriteSource(const File& file, const std::vector<std::string>& source) {
    size_t written = 0;  // lines so far
    for (size_t number = 1; number <= source.size(); ++number) {
      if (source.size() > kWholeFileLines && !IsNearHot(file, number)) continue;
      if (number != written + 1) out_ << "<tr class=\"gap\"><td>…</td><td></td><td></td><td></td></tr>\n";
      const auto line = file.lines.find(static_cast<int32_t>(number));
      WriteLine(static_cast<int32_t>(number), line == file.lines.end() ? nullptr : &line->second,
                SourceEscaped(source[number - 1]));
      written = number;
    }
    // The file is not the one that ran: what was seen elsewhere must not vanish.
    for (const auto& [number, line] : file.lines) {
      if (number < 1 || static_cast<size_t>(number) > source.size()) WriteLine(number, &line, FunctionsOf(line));
    }
  }

  static bool IsNearHot(const File& file, size_t number) {
    const auto around = static_cast<int32_t>(kAround);
    const auto next = file.lines.lower_bound(static_cast<int32_t>(number) - around);
    return next != file.lines.end() && next->first <= static_cast<int32_t>(number) + around;
  }

  static std::string FunctionsOf(const Line& line) {
    std::string names = "in ";
    for (const std::string& name : line.functions) names += (names.size() > 3 ? ", " : "") + name;
    return XmlEscaped(names);
  }

  void WriteLine(int32_t number, const Line* line, const std::string& escaped) {
    if (line == nullptr) {
      out_ << "<tr><td>" << number << "</td><td></td><td></td><td>" << escaped << "</td></tr>\n";
      return;
    }
    // The root of the share: else all but one line would look alike.
    const double heat = std::sqrt(static_cast<double>(line->weight.self_ns) / static_cast<double>(hottest_ns_));
    const std::string self = line->weight.self_ns > 0 ? PercentText(line->weight.self_ns, total_ns()) : "";
    out_ << fmt::format("<tr style=\"background:rgba(255,96,16,{:.2f})\" title=\"itself {}, total {}, {} readings\">",
                        0.75 * heat, DurationText(line->weight.self_ns), DurationText(line->weight.total_ns),
                        line->weight.total_count)
         << "<td>" << (number > 0 ? std::to_string(number) : "?") << "</td><td>" << self << "</td><td>"
         << PercentText(line->weight.total_ns, total_ns()) << "</td><td>" << escaped << "</td></tr>\n";
  }

  const StackProfile& profile_;
  const ExportOptions& options_;
  StackView view_;
  std::vector<FoldedWeight> weights_;
  std::ostream& out_;
  int64_t hottest_ns_ = 1;
};

}  // namespace

void WriteHeatMap(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  ExportOptions by_line = options;
  by_line.by_function = false;
  by_line.line_numbers = true;
  by_line.threads = by_line.processes = false;
  Writer(profile, options, by_line, out).Write();
}

}  // namespace wf::profile
