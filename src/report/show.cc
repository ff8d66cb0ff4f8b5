#include "report/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/run_index.h"
#include "base/states.h"
#include "report/format.h"
#include "report/run_report.h"
#include "report/table.h"

namespace wf::report {
namespace {

using base::NodeState;
using profile::Attempt;
using profile::Node;
using profile::RunRecord;

Tone ToneOf(NodeState state) {
  if (state == NodeState::kFailed) return Tone::kBad;
  return state == NodeState::kSuccess || state == NodeState::kCached ? Tone::kGood : Tone::kPlain;
}

void Fact(std::string_view name, const std::string& value, std::string* text) {
  if (!value.empty()) *text += fmt::format("  {:<12}{}\n", name, value);
}

std::string Pairs(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "  ", OneLine(key), Shorten(OneLine(value), 60));
  }
  return text;
}

std::string Command(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& argument : argv) text += fmt::format("{}{}", text.empty() ? "" : " ", OneLine(argument));
  return text;
}

std::string FactsText(const RunRecord& record, const Style& style) {
  const profile::Run& run = record.run;
  std::string text;
  Fact("file", OneLine(run.file), &text);
  Fact("command", Command(run.argv), &text);
  Fact("parameters", Pairs(run.params), &text);
  Fact("tags", Pairs(run.tags), &text);
  Fact("commit", OneLine(run.commit), &text);
  Fact("mode", OneLine(run.mode), &text);
  if (run.usable_cpus_milli > 0)
    Fact("CPUs", Number(run.usable_cpus_milli / 1000.0, style.language) + " usable", &text);
  Fact("Python", OneLine(run.python), &text);
  if (!record.processes.empty()) {
    const profile::Process& owner = record.processes.front();
    Fact("owner", fmt::format("pid {} on {}", owner.pid, OneLine(owner.host)), &text);
  }
  return text;
}

std::string StatesText(const RunRecord& record, const Style& style) {
  std::array<uint64_t, 8> counts{};
  for (const Node& node : record.nodes) {
    const auto state = static_cast<size_t>(node.state);
    if (state < counts.size()) ++counts[state];
  }
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto state = static_cast<NodeState>(i);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], Paint(style, ToneOf(state), base::Name(state)));
  }
  return text.empty() ? "no task was called\n" : text + "\n";
}

std::string Indented(const std::string& text) {
  std::string result;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    result += fmt::format("    {}\n", std::string_view(text).substr(start, end - start));
    start = end + 1;
  }
  return result;
}

std::string FailureText(const RunRecord& record, const Node& node, const Attempt* attempt, const Style& style) {
  std::string text = Paint(style, Tone::kBad, NameOfNode(record, node.id) + " failed");
  if (attempt != nullptr && attempt->number > 1) text += fmt::format(" (attempt {})", attempt->number);
  const std::string cause = attempt != nullptr && !attempt->cause.empty() ? attempt->cause : node.cause;
  text += fmt::format(": {}\n", cause.empty() ? "no cause was recorded" : OneLine(cause));
  if (attempt != nullptr && !attempt->traceback.empty()) text += Indented(Lines(attempt->traceback));
  return text;
}

std::string FailuresText(const RunRecord& record, const ShowOptions& options, const Style& style) {
  const std::vector<const Attempt*> last = LastAttempts(record);
  std::vector<const Node*> failed;
  for (const Node& node : record.nodes) {
    if (node.state == NodeState::kFailed) failed.push_back(&node);
  }
  // The first to fail is the one that a reader needs first.
  std::stable_sort(failed.begin(), failed.end(), [](const Node* a, const Node* b) { return a->end_ns < b->end_ns; });
  const size_t shown = options.all ? failed.size() : std::min(failed.size(), kShownFailures);
  std::string text;
  for (size_t i = 0; i < shown; ++i)
    text += fmt::format("\n{}", FailureText(record, *failed[i], last[failed[i]->id - 1], style));
  if (shown < failed.size()) text += fmt::format("\n… {} more failures (--all)\n", failed.size() - shown);
  return text;
}

std::string SkippedText(const RunRecord& record) {
  std::map<uint64_t, std::vector<uint64_t>> by_cause;
  for (const Node& node : record.nodes) {
    if (node.state == NodeState::kSkipped) by_cause[node.cause_node].push_back(node.id);
  }
  constexpr size_t kShown = 5;
  std::string text;
  for (const auto& [cause, nodes] : by_cause) {
    text += fmt::format("\nskipped because of {}: ", cause == 0 ? "an unknown cause" : NameOfNode(record, cause));
    for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
      text += fmt::format("{}{}", i > 0 ? ", " : "", NameOfNode(record, nodes[i]));
    }
    if (nodes.size() > kShown) text += fmt::format(" and {} more", nodes.size() - kShown);
    text += '\n';
  }
  return text;
}

std::string NodesText(const RunRecord& record, const ShowOptions& options, const Style& style) {
  if (record.nodes.empty()) return "";
  const analysis::RunIndex index(record);
  Table table({{"node"},
               {"task", Align::kLeft, true},
               {"state", Align::kLeft},
               {"attempts"},
               {"started"},
               {"wall"},
               {"CPU s"},
               {"peak memory"},
               {"worker"}});
  const size_t shown = options.all ? record.nodes.size() : std::min(record.nodes.size(), kShownNodes);
  for (size_t n = 0; n < shown; ++n) {
    const Node& node = record.nodes[n];
    const std::string state(base::Name(node.state));
    const std::vector<size_t>& attempts = index.of_node[n];
    std::vector<Cell> row = {fmt::format("{}", node.id), NameOfNode(record, node.id), Cell(state, ToneOf(node.state)),
                             fmt::format("{}", attempts.size())};
    if (attempts.empty()) {
      row.insert(row.end(), 5, Cell(std::string(kAbsentMark)));
    } else {
      const analysis::Interval& interval = index.intervals[attempts.back()];
      const profile::Usage& usage = interval.attempt->usage;
      row.emplace_back(
          fmt::format("+{}", Duration(static_cast<double>(interval.start_ns - index.start_ns), style.language)));
      row.emplace_back(Duration(static_cast<double>(interval.wall_ns()), style.language));
      row.emplace_back(Marked(usage.cpu_ns.quality, Seconds(static_cast<double>(usage.cpu_ns.value), style.language)));
      row.emplace_back(Marked(usage.memory_peak_bytes.quality,
                              Bytes(static_cast<double>(usage.memory_peak_bytes.value), style.language)));
      row.emplace_back(interval.attempt->worker < 0 ? std::string(kAbsentMark)
                                                    : fmt::format("{}", interval.attempt->worker));
    }
    table.AddRow(std::move(row));
  }
  std::string text = fmt::format("\n{}", table.Render(style));
  if (shown < record.nodes.size()) text += fmt::format("… {} more nodes (--all)\n", record.nodes.size() - shown);
  return text;
}

}  // namespace

std::vector<const Attempt*> LastAttempts(const RunRecord& record) {
  std::vector<const Attempt*> last(record.nodes.size(), nullptr);
  for (const Attempt& attempt : record.attempts) {
    if (attempt.node < 1 || attempt.node > last.size()) continue;
    const Attempt*& newest = last[attempt.node - 1];
    if (newest == nullptr || attempt.number >= newest->number) newest = &attempt;
  }
  return last;
}

std::string NameOfNode(const RunRecord& record, uint64_t node) {
  if (node < 1 || node > record.nodes.size()) return fmt::format("node {}", node);
  const Node& its = record.nodes[node - 1];
  if (its.task < 1 || its.task > record.tasks.size()) return fmt::format("node {}", node);
  return NodeName(record.tasks[its.task - 1].name, its.map_index);
}

std::string ShowText(const RunRecord& record, const ShowOptions& options, const Style& style) {
  const analysis::RunIndex index(record);
  std::string text = RunHeadline(record.run, index.wall_ns(), style);
  text += FactsText(record, style);
  text += fmt::format("\n{}", StatesText(record, style));
  text += FailuresText(record, options, style);
  text += SkippedText(record);
  text += NodesText(record, options, style);
  return text;
}

}  // namespace wf::report
