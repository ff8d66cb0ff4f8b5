#include "store/batch.h"

#include <utility>

namespace wf::store {
namespace {

template <typename T>
void CompactRows(RowList<T>& rows, size_t& bytes) {
  RowList<T> kept;
  for (const size_t i : LastOfEach(rows)) {
    bytes += BytesOf(rows[i]);
    kept.push_back(std::move(rows[i]));
  }
  rows = std::move(kept);
}

}  // namespace

void Batch::ClearRuns() {
  run.reset();
  processes.clear();
  tasks.clear();
  nodes.clear();
  edges.clear();
  attempts.clear();
  runs_bytes = 0;
}

void Batch::ClearFile() {
  logs.clear();
  series.clear();
  stacks.reset();
  file_bytes = 0;
}

void Batch::Append(Batch&& later) {
  if (later.run) run = std::move(later.run);
  processes.Append(std::move(later.processes));
  tasks.Append(std::move(later.tasks));
  nodes.Append(std::move(later.nodes));
  edges.Append(std::move(later.edges));
  attempts.Append(std::move(later.attempts));
  logs.Append(std::move(later.logs));
  series.Append(std::move(later.series));
  if (!stacks) {
    stacks = std::move(later.stacks);
  } else if (later.stacks) {
    stacks->Append(*std::move(later.stacks));
  }
  runs_bytes += later.runs_bytes;
  file_bytes += later.file_bytes;
  later.ClearRuns();
  later.ClearFile();
}

void Batch::Compact() {
  size_t bytes = edges.size() * sizeof(profile::Edge);
  CompactRows(processes, bytes);
  CompactRows(tasks, bytes);
  CompactRows(nodes, bytes);
  CompactRows(attempts, bytes);
  runs_bytes = bytes;
}

}  // namespace wf::store
