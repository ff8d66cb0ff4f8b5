#include "analysis/run_index.h"

#include <algorithm>
#include <map>
#include <string>

namespace wf::analysis {
namespace {

// What to add to a time of a process to have it on the owner's clock. Processes of one boot share CLOCK_MONOTONIC;
// for others the anchors to wall time are all there is.
std::map<uint32_t, int64_t> ClockOffsets(const profile::RunRecord& record) {
  std::map<uint32_t, int64_t> offsets;
  if (record.processes.empty()) return offsets;
  const profile::Process& owner = record.processes.front();
  for (const profile::Process& process : record.processes) {
    if (process.boot_id == owner.boot_id || process.anchor_wall_ns == 0 || owner.anchor_wall_ns == 0) continue;
    offsets[process.id] =
        (process.anchor_wall_ns - process.anchor_monotonic_ns) - (owner.anchor_wall_ns - owner.anchor_monotonic_ns);
  }
  return offsets;
}

int64_t LastSignOfLife(const profile::RunRecord& record, const std::map<uint32_t, int64_t>& offsets) {
  int64_t last = record.run.start_ns;
  for (const profile::Node& node : record.nodes) last = std::max({last, node.ready_ns, node.end_ns});
  for (const profile::Attempt& attempt : record.attempts) {
    const auto offset = offsets.find(attempt.process);
    const int64_t shift = offset == offsets.end() ? 0 : offset->second;
    last = std::max({last, attempt.start_ns + shift, attempt.end_ns == 0 ? 0 : attempt.end_ns + shift});
  }
  return last;
}

bool ValidId(uint64_t id, size_t count) { return id >= 1 && id <= count; }

}  // namespace

RunIndex::RunIndex(const profile::RunRecord& run_record) : record(run_record), start_ns(run_record.run.start_ns) {
  const std::map<uint32_t, int64_t> offsets = ClockOffsets(record);
  end_ns = record.run.end_ns != 0 ? std::max(record.run.end_ns, start_ns) : LastSignOfLife(record, offsets);
  of_node.resize(record.nodes.size());
  dependencies.resize(record.nodes.size());
  for (const profile::Attempt& attempt : record.attempts) {
    if (attempt.start_ns == 0 || !ValidId(attempt.node, record.nodes.size())) continue;
    const profile::Node& node = record.nodes[attempt.node - 1];
    if (!ValidId(node.task, record.tasks.size())) continue;
    const auto offset = offsets.find(attempt.process);
    const int64_t shift = offset == offsets.end() ? 0 : offset->second;
    Interval interval{.attempt = &attempt, .node = &node, .task = node.task - 1};
    interval.start_ns = attempt.start_ns + shift;
    interval.finished = attempt.end_ns != 0;
    interval.end_ns = std::max(interval.start_ns, interval.finished ? attempt.end_ns + shift : end_ns);
    intervals.push_back(interval);
  }
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.attempt->id < b.attempt->id;
  });
  for (size_t i = 0; i < intervals.size(); ++i) of_node[intervals[i].node->id - 1].push_back(i);
  for (const profile::Edge& edge : record.edges) {
    if (ValidId(edge.from, record.nodes.size()) && ValidId(edge.to, record.nodes.size())) {
      dependencies[edge.to - 1].push_back(edge.from - 1);
    }
  }
}

}  // namespace wf::analysis
