#include "report/logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "report/format.h"
#include "report/json_parts.h"
#include "report/show.h"

namespace wf::report {
namespace {

using profile::LogLine;

std::string_view StreamName(profile::Stream stream) {
  switch (stream) {
    case profile::Stream::kStdout: return "stdout";
    case profile::Stream::kStderr: return "stderr";
    case profile::Stream::kLog: return "log";
  }
  return "log";
}

// The levels of Python's logging.
std::string_view LevelName(int32_t level) {
  if (level >= 50) return "CRITICAL";
  if (level >= 40) return "ERROR";
  if (level >= 30) return "WARNING";
  if (level >= 20) return "INFO";
  return level > 0 ? "DEBUG" : "";
}

std::unordered_map<uint64_t, const profile::Attempt*> AttemptsById(const profile::RunRecord& record) {
  std::unordered_map<uint64_t, const profile::Attempt*> attempts;
  for (const profile::Attempt& attempt : record.attempts) attempts[attempt.id] = &attempt;
  return attempts;
}

std::string_view SourceOf(const LogLine& line) {
  const std::string_view level = line.stream == profile::Stream::kLog ? LevelName(line.level) : "";
  return level.empty() ? StreamName(line.stream) : level;
}

void AppendLines(std::string_view prefix, const std::string& text, std::string* out) {
  size_t start = 0;
  do {
    const size_t end = std::min(text.find('\n', start), text.size());
    *out += fmt::format("{}{}\n", prefix, text.substr(start, end - start));
    start = end + 1;
  } while (start < text.size());
}

}  // namespace

std::string LogsText(const RunLogs& logs, const Style& style) {
  if (logs.lines.empty()) return "nothing was logged or printed\n";
  const auto attempts = AttemptsById(logs.record);
  std::vector<std::string> names;
  size_t widest = 0;
  for (const LogLine& line : logs.lines) {
    const auto attempt = attempts.find(line.attempt);
    names.push_back(attempt == attempts.end() ? "-" : NameOfNode(logs.record, attempt->second->node));
    widest = std::max(widest, DisplayWidth(names.back()));
  }
  std::string text;
  for (size_t i = 0; i < logs.lines.size(); ++i) {
    const LogLine& line = logs.lines[i];
    const auto since = static_cast<double>(std::max<int64_t>(0, line.time_ns - logs.record.run.start_ns));
    const std::string time = fmt::format("+{:.3f}s", since / 1e9);
    const std::string padding(widest - DisplayWidth(names[i]), ' ');
    const std::string prefix = fmt::format("{:>10}  {}{}  {:<8}  ", time, names[i], padding, SourceOf(line));
    AppendLines(Paint(style, line.level >= 40 ? Tone::kBad : Tone::kFaint, prefix), Lines(line.text), &text);
  }
  return text;
}

std::string LogsJson(const RunLogs& logs) {
  const auto attempts = AttemptsById(logs.record);
  nlohmann::json document = Document("logs");
  document["run"] = RunJson(logs.record.run);
  document["lines"] = nlohmann::json::array();
  for (const LogLine& line : logs.lines) {
    nlohmann::json entry = {
        {"seconds", static_cast<double>(line.time_ns - logs.record.run.start_ns) / 1e9},
        {"stream", StreamName(line.stream)},
        {"level", line.level},
        {"text", line.text},
        {"node", nullptr},
        {"task", nullptr},
    };
    const auto attempt = attempts.find(line.attempt);
    if (attempt != attempts.end()) {
      entry["node"] = attempt->second->node;
      entry["attempt"] = attempt->second->number;
      entry["task"] = NameOfNode(logs.record, attempt->second->node);
    }
    document["lines"].push_back(std::move(entry));
  }
  return ToText(document);
}

}  // namespace wf::report
