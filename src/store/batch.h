// Batch: what was put since the last flush, by kind. A plain value; RunWriterThread guards it.
#ifndef WF_STORE_BATCH_H_
#define WF_STORE_BATCH_H_

#include <cstdint>
#include <optional>

#include "profile/model.h"
#include "profile/stack_recorder.h"
#include "store/row_list.h"

namespace wf::store {

// A point of the series whose name is number `name` of the writer's list of names.
struct SeriesRow {
  uint32_t name = 0;
  profile::SeriesPoint point;
};

struct Batch {
  std::optional<profile::Run> run;
  RowList<profile::Process> processes;
  RowList<profile::Task> tasks;
  RowList<profile::Node> nodes;
  RowList<profile::Edge> edges;
  RowList<profile::Attempt> attempts;
  RowList<profile::LogLine> logs;
  RowList<SeriesRow> series;
  std::optional<profile::StackDelta> stacks;
  // Memory by estimate: of what goes to runs.db, and of what goes to the run's own file (logs, series, stacks).
  size_t runs_bytes = 0;
  size_t file_bytes = 0;

  // The run's own row is not counted.
  size_t runs_rows() const { return processes.size() + tasks.size() + nodes.size() + edges.size() + attempts.size(); }
  size_t file_rows() const { return logs.size() + series.size() + (stacks ? stacks->samples.size() : 0); }
  bool empty() const { return !run && !stacks && runs_rows() == 0 && file_rows() == 0; }
  // Forget rows and keep the memory, unless it is large.
  void ClearRuns();
  void ClearFile();
  // Moves the rows of `later` behind ours and leaves it empty.
  void Append(Batch&& later);
  // Forgets rows that a later one with the same id replaces; for batches that have to wait.
  void Compact();
};

// Memory of a row with its texts.
inline size_t BytesOf(const profile::Process& row) { return sizeof(row); }
inline size_t BytesOf(const profile::Task& row) { return sizeof(row) + row.qualname.size() + row.file.size(); }
inline size_t BytesOf(const profile::Node& row) { return sizeof(row) + row.cause.size(); }
inline size_t BytesOf(const profile::Attempt& row) { return sizeof(row) + row.cause.size() + row.traceback.size(); }

}  // namespace wf::store

#endif  // WF_STORE_BATCH_H_
