#include "store/rows.h"

#include <array>

namespace wf::store {
namespace {

using profile::Figure;
using profile::Quality;
using profile::Usage;

// In the order of the columns of `attempts`.
constexpr std::array kFigures = {
    &Usage::cpu_ns,
    &Usage::memory_peak_bytes,
    &Usage::read_bytes,
    &Usage::write_bytes,
    &Usage::device_read_bytes,
    &Usage::device_write_bytes,
    &Usage::net_received_bytes,
    &Usage::net_sent_bytes,
    &Usage::gpu_memory_bytes,
    &Usage::gpu_busy_ns,
    &Usage::energy_uj,
    &Usage::cpu_wait_ns,
};
constexpr int kFirstFigureColumn = 14;  // of `attempts`, from 0

// Absent is NULL, never 0. `index` counts from 1, as in Bind.
void BindFigure(Statement& put, int index, const Figure& figure) {
  if (figure.present()) {
    put.Bind(index, figure.value);
  } else {
    put.BindNull(index);
  }
  put.Bind(index + 1, static_cast<int64_t>(figure.quality));
}

Figure ReadFigure(const Statement& row, int column) {
  if (row.IsNull(column)) return {};
  const int64_t quality = row.Int(column + 1);
  if (quality <= 0 || quality > static_cast<int64_t>(Quality::kShared)) return {};
  return {row.Int(column), static_cast<Quality>(quality)};
}

// Most causes are empty: NULL takes no room.
void BindOptional(Statement& put, int index, std::string_view text) {
  if (text.empty()) {
    put.BindNull(index);
  } else {
    put.Bind(index, text);
  }
}

// The attempt of another run; of which there is none but in recordings.
void BindForeign(Statement& put, int index, const profile::Attempt& attempt) {
  if (attempt.of_run.IsNil()) {
    for (int i = 0; i < 3; ++i) put.BindNull(index + i);
    return;
  }
  put.BindBlob(index, BlobOf(attempt.of_run));
  put.Bind(index + 1, static_cast<int64_t>(attempt.of_node)).Bind(index + 2, static_cast<int64_t>(attempt.of_attempt));
}

// A stored number that is none of the enum's becomes its first value, so that no reader meets a state it does not know.
template <typename Enum>
Enum ReadEnum(const Statement& row, int column, Enum last) {
  const int64_t value = row.Int(column);
  return value >= 0 && value <= static_cast<int64_t>(last) ? static_cast<Enum>(value) : Enum{};
}

}  // namespace

void BindProcess(Statement& put, const profile::Process& process) {
  put.Bind(2, process.id)
      .Bind(3, process.host)
      .Bind(4, process.pid)
      .Bind(5, process.start_ticks)
      .Bind(6, process.boot_id);
  put.Bind(7, process.rank).Bind(8, process.anchor_monotonic_ns).Bind(9, process.anchor_wall_ns).Bind(10, process.name);
}

profile::Process ReadProcess(const Statement& row) {
  profile::Process process;
  process.id = static_cast<uint32_t>(row.Int(1));
  process.host = row.Text(2);
  process.pid = static_cast<int32_t>(row.Int(3));
  process.start_ticks = row.Int(4);
  process.boot_id = row.Text(5);
  process.rank = static_cast<int32_t>(row.Int(6));
  process.anchor_monotonic_ns = row.Int(7);
  process.anchor_wall_ns = row.Int(8);
  process.name = row.Text(9);
  return process;
}

void BindTask(Statement& put, const profile::Task& task) {
  put.Bind(2, task.id)
      .Bind(3, task.name)
      .Bind(4, task.qualname)
      .Bind(5, task.file)
      .Bind(6, task.line)
      .Bind(7, task.kind);
}

profile::Task ReadTask(const Statement& row) {
  profile::Task task;
  task.id = static_cast<uint32_t>(row.Int(1));
  task.name = row.Text(2);
  task.qualname = row.Text(3);
  task.file = row.Text(4);
  task.line = static_cast<int32_t>(row.Int(5));
  task.kind = row.Text(6);
  return task;
}

void BindNode(Statement& put, const profile::Node& node) {
  put.Bind(2, static_cast<int64_t>(node.id)).Bind(3, node.task).Bind(4, node.map_index);
  put.Bind(5, static_cast<int64_t>(node.parent)).Bind(6, static_cast<int64_t>(node.state)).Bind(7, node.ready_ns);
  put.Bind(8, node.end_ns).Bind(9, static_cast<int64_t>(node.cause_node));
  BindOptional(put, 10, node.cause);
}

profile::Node ReadNode(const Statement& row) {
  profile::Node node;
  node.id = static_cast<uint64_t>(row.Int(1));
  node.task = static_cast<uint32_t>(row.Int(2));
  node.map_index = row.Int(3);
  node.parent = static_cast<uint64_t>(row.Int(4));
  node.state = ReadEnum(row, 5, base::NodeState::kCached);
  node.ready_ns = row.Int(6);
  node.end_ns = row.Int(7);
  node.cause_node = static_cast<uint64_t>(row.Int(8));
  node.cause = row.Text(9);
  return node;
}

void BindEdge(Statement& put, const profile::Edge& edge) {
  put.Bind(2, static_cast<int64_t>(edge.to))
      .Bind(3, static_cast<int64_t>(edge.from))
      .Bind(4, static_cast<int64_t>(edge.kind));
  BindFigure(put, 5, edge.bytes);
}

profile::Edge ReadEdge(const Statement& row) {
  profile::Edge edge;
  edge.to = static_cast<uint64_t>(row.Int(1));
  edge.from = static_cast<uint64_t>(row.Int(2));
  edge.kind = ReadEnum(row, 3, profile::EdgeKind::kAfter);
  edge.bytes = ReadFigure(row, 4);
  return edge;
}

void BindAttempt(Statement& put, const profile::Attempt& attempt) {
  put.Bind(2, static_cast<int64_t>(attempt.id)).Bind(3, static_cast<int64_t>(attempt.node)).Bind(4, attempt.number);
  put.Bind(5, attempt.start_ns).Bind(6, attempt.end_ns).Bind(7, static_cast<int64_t>(attempt.state));
  put.Bind(8, attempt.worker).Bind(9, attempt.process).Bind(10, attempt.tid).Bind(11, int64_t{attempt.sampled});
  put.Bind(12, attempt.usage.cpus_allocated_milli);
  BindOptional(put, 13, attempt.cause);
  BindOptional(put, 14, attempt.traceback);
  int index = kFirstFigureColumn + 1;
  for (const auto figure : kFigures) {
    BindFigure(put, index, attempt.usage.*figure);
    index += 2;
  }
  BindForeign(put, index, attempt);
}

profile::Attempt ReadAttempt(const Statement& row) {
  profile::Attempt attempt;
  attempt.id = static_cast<uint64_t>(row.Int(1));
  attempt.node = static_cast<uint64_t>(row.Int(2));
  attempt.number = static_cast<int32_t>(row.Int(3));
  attempt.start_ns = row.Int(4);
  attempt.end_ns = row.Int(5);
  attempt.state = ReadEnum(row, 6, base::AttemptState::kLost);
  attempt.worker = static_cast<int32_t>(row.Int(7));
  attempt.process = static_cast<uint32_t>(row.Int(8));
  attempt.tid = static_cast<int32_t>(row.Int(9));
  attempt.sampled = row.Int(10) != 0;
  attempt.usage.cpus_allocated_milli = static_cast<int32_t>(row.Int(11));
  attempt.cause = row.Text(12);
  attempt.traceback = row.Text(13);
  int column = kFirstFigureColumn;
  for (const auto figure : kFigures) {
    attempt.usage.*figure = ReadFigure(row, column);
    column += 2;
  }
  attempt.of_run = RunIdOf(row.Blob(column));
  attempt.of_node = static_cast<uint64_t>(row.Int(column + 1));
  attempt.of_attempt = static_cast<uint64_t>(row.Int(column + 2));
  return attempt;
}

}  // namespace wf::store
