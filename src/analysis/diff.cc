#include "analysis/diff.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace wf::analysis {
namespace {

using profile::Figure;

Change MakeChange(const Figure& before, const Figure& after) {
  Change change{before, after, std::nullopt};
  if (before.present() && after.present() && before.value != 0) {
    change.ratio = static_cast<double>(after.value) / static_cast<double>(before.value);
  }
  return change;
}

Figure WallOf(const TaskSummary* task) {
  return task != nullptr && task->attempts > 0 ? Figure::Measured(task->wall_ns) : Figure();
}

DiffRow CompareTasks(const std::string& name, const TaskSummary* before, const TaskSummary* after) {
  static const TaskSummary kNone;
  DiffRow row;
  row.task = name;
  row.in_before = before != nullptr;
  row.in_after = after != nullptr;
  row.wall_ns = MakeChange(WallOf(before), WallOf(after));
  const TaskSummary& a = before != nullptr ? *before : kNone;
  const TaskSummary& b = after != nullptr ? *after : kNone;
  row.attempts_before = a.attempts;
  row.attempts_after = b.attempts;
  row.cpu_ns = MakeChange(a.cpu_ns.figure, b.cpu_ns.figure);
  row.memory_peak_bytes = MakeChange(a.memory_peak_bytes.figure, b.memory_peak_bytes.figure);
  return row;
}

DiffRow CompareTotals(const RunTotals& before, const RunTotals& after) {
  DiffRow row;
  row.in_before = row.in_after = true;
  row.attempts_before = before.attempts;
  row.attempts_after = after.attempts;
  row.wall_ns = MakeChange(Figure::Measured(before.wall_ns), Figure::Measured(after.wall_ns));
  row.cpu_ns = MakeChange(before.cpu_ns.figure, after.cpu_ns.figure);
  row.memory_peak_bytes = MakeChange(before.memory_peak_bytes.figure, after.memory_peak_bytes.figure);
  return row;
}

int64_t Difference(const DiffRow& row) { return std::abs(row.wall_ns.after.value - row.wall_ns.before.value); }

}  // namespace

Diff Compare(const RunSummary& before, const RunSummary& after) {
  std::map<std::string, std::pair<const TaskSummary*, const TaskSummary*>> by_name;
  for (const TaskSummary& task : before.tasks) by_name[task.name].first = &task;
  for (const TaskSummary& task : after.tasks) by_name[task.name].second = &task;
  Diff diff;
  diff.run = CompareTotals(before.totals, after.totals);
  for (const auto& [name, pair] : by_name) diff.tasks.push_back(CompareTasks(name, pair.first, pair.second));
  std::stable_sort(diff.tasks.begin(), diff.tasks.end(),
                   [](const DiffRow& a, const DiffRow& b) { return Difference(a) > Difference(b); });
  return diff;
}

}  // namespace wf::analysis
