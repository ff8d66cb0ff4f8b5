// Batch: what was put since the last flush, by kind. A plain value; RunWriter guards it.
#ifndef WF_STORE_BATCH_H_
#define WF_STORE_BATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/model.h"

namespace wf::store {

// A point of the series whose name is number `name` of the writer's list of names.
struct SeriesRow {
  uint32_t name = 0;
  profile::SeriesPoint point;
};

struct Batch {
  std::optional<profile::Run> run;
  std::vector<profile::Process> processes;
  std::vector<profile::Task> tasks;
  std::vector<profile::Node> nodes;
  std::vector<profile::Edge> edges;
  std::vector<profile::Attempt> attempts;
  std::vector<profile::LogLine> logs;
  std::vector<SeriesRow> series;
  // Memory by estimate: of what goes to runs.db, and of what goes to the run's own file (logs, series).
  size_t runs_bytes = 0;
  size_t file_bytes = 0;

  // The run's own row is not counted.
  size_t runs_rows() const;
  size_t file_rows() const { return logs.size() + series.size(); }
  // Forget rows and keep the memory, unless it is large.
  void ClearRuns();
  void ClearFile();
  // Moves the rows of `later` behind ours.
  void Append(Batch&& later);
  // Of rows with the same id keeps the one put last; sorts them by id. Processes, tasks, nodes, attempts.
  void KeepLast();
};

}  // namespace wf::store

#endif  // WF_STORE_BATCH_H_
