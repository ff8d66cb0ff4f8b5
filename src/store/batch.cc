#include "store/batch.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace wf::store {
namespace {

constexpr size_t kKeptRows = 32'768;  // memory above this is given back after a flush

template <typename T>
void ClearRows(std::vector<T>& rows) {
  rows.clear();
  if (rows.capacity() > kKeptRows) rows.shrink_to_fit();
}

template <typename T>
void AppendRows(std::vector<T>& rows, std::vector<T>&& later) {
  if (rows.empty()) {
    rows = std::move(later);
  } else {
    rows.insert(rows.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
  }
  later.clear();
}

template <typename T>
void KeepLastRows(std::vector<T>& rows) {
  const auto not_ascending = [](const T& a, const T& b) { return a.id >= b.id; };
  if (std::adjacent_find(rows.begin(), rows.end(), not_ascending) == rows.end()) return;
  // Sorts small keys, then moves each kept row once. Of equal ids the later index comes first.
  std::vector<std::pair<uint64_t, size_t>> order(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) order[i] = {rows[i].id, rows.size() - i};
  std::sort(order.begin(), order.end());
  std::vector<T> kept;
  kept.reserve(rows.size());
  for (const auto& [id, distance_from_end] : order) {
    if (!kept.empty() && kept.back().id == id) continue;
    kept.push_back(std::move(rows[rows.size() - distance_from_end]));
  }
  rows = std::move(kept);
}

}  // namespace

size_t Batch::runs_rows() const {
  return processes.size() + tasks.size() + nodes.size() + edges.size() + attempts.size();
}

void Batch::ClearRuns() {
  run.reset();
  ClearRows(processes);
  ClearRows(tasks);
  ClearRows(nodes);
  ClearRows(edges);
  ClearRows(attempts);
  runs_bytes = 0;
}

void Batch::ClearFile() {
  ClearRows(logs);
  ClearRows(series);
  file_bytes = 0;
}

void Batch::Append(Batch&& later) {
  if (later.run) run = std::move(later.run);
  AppendRows(processes, std::move(later.processes));
  AppendRows(tasks, std::move(later.tasks));
  AppendRows(nodes, std::move(later.nodes));
  AppendRows(edges, std::move(later.edges));
  AppendRows(attempts, std::move(later.attempts));
  AppendRows(logs, std::move(later.logs));
  AppendRows(series, std::move(later.series));
  runs_bytes += later.runs_bytes;
  file_bytes += later.file_bytes;
  later.ClearRuns();
  later.ClearFile();
}

void Batch::KeepLast() {
  KeepLastRows(processes);
  KeepLastRows(tasks);
  KeepLastRows(nodes);
  KeepLastRows(attempts);
}

}  // namespace wf::store
