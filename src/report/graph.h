// `wf graph RUN`: what depends on what, by task or by node, as text, DOT (Graphviz) or Mermaid.
#ifndef WF_REPORT_GRAPH_H_
#define WF_REPORT_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profile/run_record.h"
#include "report/style.h"

namespace wf::report {

enum class GraphFormat { kText, kDot, kMermaid, kJson };

struct GraphOptions {
  GraphFormat format = GraphFormat::kText;
  bool nodes = false;  // every node for itself instead of one box a task
  bool all = false;    // no bound on the number of boxes
};

// A box of the picture: a task with all its nodes, or one node.
struct GraphBox {
  std::string name;
  uint64_t nodes = 0;
  uint64_t failed = 0;
  uint64_t skipped = 0;
  base::NodeState state = base::NodeState::kWaiting;  // of a single node
};

struct GraphArrow {
  size_t from = 0;
  size_t to = 0;
  bool only_order = false;  // `after`, no data
};

// Boxes come before those that depend on them, as far as there is such an order: a task may depend on itself.
struct Graph {
  std::vector<GraphBox> boxes;
  std::vector<GraphArrow> arrows;  // each pair once
  size_t left_out = 0;             // boxes beyond the bound
};

Graph MakeGraph(const profile::RunRecord& record, const GraphOptions& options);
std::string GraphText(const profile::RunRecord& record, const GraphOptions& options, const Style& style);

// Boxes without GraphOptions::all.
inline constexpr size_t kShownBoxes = 500;

}  // namespace wf::report

#endif  // WF_REPORT_GRAPH_H_
