#include <fmt/format.h>

#include <algorithm>

#include "store/sqlite_store.h"

namespace wf::store {
namespace {

// Ids are given densely; so many may be missing before we call the file damaged instead of incomplete.
constexpr uint64_t kMostMissing = 4'000'000;

// Spreads `rows` (ascending by id) so that rows[i].id == i + 1, up to `most`; holes are filled by `make`.
template <typename T, typename Make>
void Spread(std::vector<T>& rows, uint64_t most, Make make) {
  if (rows.size() == most && (rows.empty() || (rows.front().id == 1 && rows.back().id == most))) return;
  std::vector<T> dense;
  dense.reserve(most);
  size_t next = 0;
  for (uint64_t id = 1; id <= most; ++id) {
    while (next < rows.size() && rows[next].id < id) ++next;
    if (next < rows.size() && rows[next].id == id) {
      dense.push_back(std::move(rows[next++]));
    } else {
      dense.push_back(make(id));
    }
  }
  rows = std::move(dense);
}

profile::Task MissingTask(uint64_t id) {
  profile::Task task;
  task.id = static_cast<uint32_t>(id);
  task.name = "(not stored)";
  task.kind = "function";
  return task;
}

struct Highest {
  uint64_t node = 0;
  uint64_t task = 0;
};

Highest HighestIds(const profile::RunRecord& record) {
  Highest highest;
  if (!record.tasks.empty()) highest.task = record.tasks.back().id;
  if (!record.nodes.empty()) highest.node = record.nodes.back().id;
  for (const profile::Node& node : record.nodes) {
    highest.task = std::max<uint64_t>(highest.task, node.task);
    highest.node = std::max({highest.node, node.parent, node.cause_node});
  }
  for (const profile::Attempt& attempt : record.attempts) highest.node = std::max(highest.node, attempt.node);
  for (const profile::Edge& edge : record.edges) highest.node = std::max({highest.node, edge.from, edge.to});
  return highest;
}

}  // namespace

Status FillGaps(profile::RunRecord& record) {
  Highest highest = HighestIds(record);
  if (highest.node > record.nodes.size() + kMostMissing || highest.task > record.tasks.size() + kMostMissing) {
    return {Code::kDataLoss,
            fmt::format("run {} is damaged: its rows speak of task {} and node {}, which it cannot have",
                        record.run.id.ToString(), highest.task, highest.node)};
  }
  // A node whose row was lost has no task that we know: it gets one more.
  const bool has_holes =
      highest.node != record.nodes.size() ||
      std::any_of(record.nodes.begin(), record.nodes.end(), [](const auto& node) { return node.task == 0; });
  if (has_holes) ++highest.task;
  const auto unknown_task = static_cast<uint32_t>(highest.task);
  Spread(record.tasks, highest.task, &MissingTask);
  Spread(record.nodes, highest.node, [unknown_task](uint64_t id) {
    profile::Node node;
    node.id = id;
    node.task = unknown_task;
    node.cause = "the row of this node was lost";
    return node;
  });
  for (profile::Node& node : record.nodes) {
    if (node.task == 0) node.task = unknown_task;
  }
  std::erase_if(record.edges, [](const auto& edge) { return edge.from == 0 || edge.to == 0; });
  std::erase_if(record.attempts, [](const auto& attempt) { return attempt.node == 0; });
  return {};
}

}  // namespace wf::store
