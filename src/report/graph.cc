#include "report/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>

#include "base/states.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/run_report.h"
#include "report/show.h"

namespace wf::report {
namespace {

using base::NodeState;
using profile::RunRecord;

// Which box a node belongs to.
size_t BoxOf(const profile::Node& node, bool by_node) { return by_node ? node.id - 1 : node.task - 1; }

bool IsKnown(const RunRecord& record, uint64_t node) {
  if (node < 1 || node > record.nodes.size()) return false;
  const uint32_t task = record.nodes[node - 1].task;
  return task >= 1 && task <= record.tasks.size();
}

std::vector<GraphBox> BoxesOf(const RunRecord& record, bool by_node) {
  std::vector<GraphBox> boxes(by_node ? record.nodes.size() : record.tasks.size());
  for (size_t t = 0; !by_node && t < boxes.size(); ++t) boxes[t].name = OneLine(record.tasks[t].name);
  for (const profile::Node& node : record.nodes) {
    if (!IsKnown(record, node.id)) continue;
    GraphBox& box = boxes[BoxOf(node, by_node)];
    if (by_node) box.name = NameOfNode(record, node.id);
    ++box.nodes;
    box.state = node.state;
    if (node.state == NodeState::kFailed) ++box.failed;
    if (node.state == NodeState::kSkipped) ++box.skipped;
  }
  return boxes;
}

std::vector<GraphArrow> ArrowsOf(const RunRecord& record, bool by_node) {
  std::map<std::pair<size_t, size_t>, bool> arrows;  // value: only order
  for (const profile::Edge& edge : record.edges) {
    if (!IsKnown(record, edge.from) || !IsKnown(record, edge.to)) continue;
    const auto key = std::pair(BoxOf(record.nodes[edge.from - 1], by_node), BoxOf(record.nodes[edge.to - 1], by_node));
    const bool only_order = edge.kind == profile::EdgeKind::kAfter;
    const auto [found, inserted] = arrows.emplace(key, only_order);
    if (!inserted) found->second = found->second && only_order;
  }
  std::vector<GraphArrow> list;
  for (const auto& [key, only_order] : arrows) list.push_back({key.first, key.second, only_order});
  return list;
}

// Old index of each box in an order in which dependencies come first; what lies on a cycle keeps its place at the end.
std::vector<size_t> OrderOf(const Graph& graph) {
  std::vector<size_t> waiting(graph.boxes.size(), 0);
  std::vector<std::vector<size_t>> followers(graph.boxes.size());
  for (const GraphArrow& arrow : graph.arrows) {
    if (arrow.from == arrow.to) continue;
    ++waiting[arrow.to];
    followers[arrow.from].push_back(arrow.to);
  }
  std::deque<size_t> ready;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  std::vector<size_t> order;
  std::vector<bool> placed(graph.boxes.size(), false);
  while (!ready.empty()) {
    const size_t box = ready.front();
    ready.pop_front();
    order.push_back(box);
    placed[box] = true;
    for (const size_t follower : followers[box]) {
      if (--waiting[follower] == 0) ready.push_back(follower);
    }
  }
  for (size_t i = 0; i < placed.size(); ++i) {
    if (!placed[i]) order.push_back(i);
  }
  return order;
}

std::string Label(const GraphBox& box, bool by_node) {
  std::string label = box.name;
  if (by_node) return label + fmt::format(" ({})", base::Name(box.state));
  if (box.nodes != 1) label += fmt::format(" ×{}", box.nodes);
  if (box.failed > 0) label += fmt::format(", {} failed", box.failed);
  if (box.skipped > 0) label += fmt::format(", {} skipped", box.skipped);
  return label;
}

Tone ToneOf(const GraphBox& box) { return box.failed > 0 ? Tone::kBad : Tone::kPlain; }

std::string AsText(const Graph& graph, bool by_node, const Style& style) {
  std::vector<std::string> sources(graph.boxes.size());
  for (const GraphArrow& arrow : graph.arrows) {
    std::string& list = sources[arrow.to];
    list += (list.empty() ? "" : ", ") + graph.boxes[arrow.from].name + (arrow.only_order ? " (after)" : "");
  }
  std::string text;
  for (size_t i = 0; i < graph.boxes.size(); ++i) {
    text += Paint(style, ToneOf(graph.boxes[i]), Label(graph.boxes[i], by_node));
    if (!sources[i].empty()) text += "  <- " + sources[i];
    text += '\n';
  }
  return text;
}

std::string DotQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string AsDot(const Graph& graph, bool by_node, const std::string& name) {
  std::string text = fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", DotQuoted(name));
  for (size_t i = 0; i < graph.boxes.size(); ++i) {
    const GraphBox& box = graph.boxes[i];
    const std::string_view color = box.failed > 0 ? ", color=red" : box.skipped > 0 ? ", style=dashed" : "";
    text += fmt::format("  n{} [label={}{}];\n", i, DotQuoted(Label(box, by_node)), color);
  }
  for (const GraphArrow& arrow : graph.arrows) {
    text += fmt::format("  n{} -> n{}{};\n", arrow.from, arrow.to, arrow.only_order ? " [style=dashed]" : "");
  }
  return text + "}\n";
}

// Mermaid takes HTML-like entities in quoted labels, written with # and without &.
std::string MermaidQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': quoted += "#quot;"; break;
      case '#': quoted += "#35;"; break;
      case '<': quoted += "#lt;"; break;
      case '>': quoted += "#gt;"; break;
      case '`': quoted += "#96;"; break;
      default: quoted += c;
    }
  }
  return quoted + "\"";
}

std::string AsMermaid(const Graph& graph, bool by_node) {
  std::string text = "flowchart LR\n";
  std::string failed;
  for (size_t i = 0; i < graph.boxes.size(); ++i) {
    text += fmt::format("  n{}[{}]\n", i, MermaidQuoted(Label(graph.boxes[i], by_node)));
    if (graph.boxes[i].failed > 0) failed += fmt::format("{}n{}", failed.empty() ? "" : ",", i);
  }
  for (const GraphArrow& arrow : graph.arrows) {
    text += fmt::format("  n{} {} n{}\n", arrow.from, arrow.only_order ? "-.->" : "-->", arrow.to);
  }
  if (!failed.empty()) text += "  classDef failed stroke:#c00\n  class " + failed + " failed\n";
  return text;
}

std::string AsJson(const Graph& graph, const RunRecord& record, bool by_node) {
  nlohmann::json document = Document("graph");
  document["run"] = RunJson(record.run);
  document["by"] = by_node ? "node" : "task";
  document["boxes"] = nlohmann::json::array();
  for (const GraphBox& box : graph.boxes) {
    document["boxes"].push_back(
        {{"name", box.name}, {"nodes", box.nodes}, {"failed", box.failed}, {"skipped", box.skipped}});
  }
  document["arrows"] = nlohmann::json::array();
  for (const GraphArrow& arrow : graph.arrows) {
    document["arrows"].push_back(
        {{"from", arrow.from}, {"to", arrow.to}, {"kind", arrow.only_order ? "after" : "data"}});
  }
  document["left_out"] = graph.left_out;
  return ToText(document);
}

}  // namespace

Graph MakeGraph(const RunRecord& record, const GraphOptions& options) {
  Graph whole{BoxesOf(record, options.nodes), ArrowsOf(record, options.nodes), 0};
  std::vector<size_t> order = OrderOf(whole);
  const size_t shown = options.all ? order.size() : std::min(order.size(), kShownBoxes);
  Graph graph;
  graph.left_out = order.size() - shown;
  std::vector<size_t> place(order.size(), order.size());
  for (size_t i = 0; i < shown; ++i) {
    place[order[i]] = i;
    graph.boxes.push_back(std::move(whole.boxes[order[i]]));
  }
  for (const GraphArrow& arrow : whole.arrows) {
    if (place[arrow.from] >= shown || place[arrow.to] >= shown) continue;
    graph.arrows.push_back({place[arrow.from], place[arrow.to], arrow.only_order});
  }
  std::sort(graph.arrows.begin(), graph.arrows.end(),
            [](const GraphArrow& a, const GraphArrow& b) { return std::pair(a.to, a.from) < std::pair(b.to, b.from); });
  return graph;
}

std::string GraphText(const RunRecord& record, const GraphOptions& options, const Style& style) {
  const Graph graph = MakeGraph(record, options);
  const std::string more = fmt::format("{} more boxes are left out; --all shows them", graph.left_out);
  switch (options.format) {
    case GraphFormat::kJson: return AsJson(graph, record, options.nodes);
    case GraphFormat::kDot:
      return (graph.left_out > 0 ? "// " + more + "\n" : "") +
             AsDot(graph, options.nodes, OneLine(record.run.workflow));
    case GraphFormat::kMermaid:
      return AsMermaid(graph, options.nodes) + (graph.left_out > 0 ? "%% " + more + "\n" : "");
    case GraphFormat::kText: break;
  }
  return AsText(graph, options.nodes, style) + (graph.left_out > 0 ? more + "\n" : "");
}

}  // namespace wf::report
