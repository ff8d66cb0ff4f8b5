// Reading recorded stacks back. The file may be damaged or somebody else's: every number is checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "store/stack_file.h"

namespace wf::store {
namespace {

using nlohmann::json;
using profile::StackDelta;

constexpr size_t kFrameColumns = 6;
constexpr size_t kNodeColumns = 2;

// A member that is there and has the type of `into`; else `into` stays.
template <typename T>
void Get(const json& object, const char* name, T& into) {
  const auto at = object.find(name);
  if (at == object.end()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (at->is_string()) into = at->get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (at->is_boolean()) into = at->get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (at->is_number() && std::isfinite(at->get<double>())) into = at->get<double>();
  } else {
    if (at->is_number_integer()) into = at->get<T>();
  }
}

// No clock reaches 2^61 ns (73 years): differences of such times are safe.
int64_t AsTime(int64_t ns) { return std::clamp<int64_t>(ns, 0, int64_t{1} << 61); }

profile::StackMeta ParseMeta(std::string_view text) {
  profile::StackMeta meta;
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return meta;
  std::string mode;
  Get(object, "mode", mode);
  if (mode == "cpu") meta.mode = profile::SampleMode::kCpu;
  if (mode == "gil") meta.mode = profile::SampleMode::kGil;
  Get(object, "rate_hz", meta.rate_hz);
  Get(object, "achieved_rate_hz", meta.achieved_rate_hz);
  Get(object, "samples", meta.samples);
  Get(object, "missed", meta.missed);
  Get(object, "not_kept", meta.not_kept);
  Get(object, "idle_included", meta.idle_included);
  Get(object, "start_wall_ns", meta.start_wall_ns);
  Get(object, "start_ns", meta.start_ns);
  Get(object, "duration_ns", meta.duration_ns);
  Get(object, "cost_cpu_ns", meta.cost_cpu_ns);
  for (int64_t* time : {&meta.start_wall_ns, &meta.start_ns, &meta.duration_ns, &meta.cost_cpu_ns}) {
    *time = AsTime(*time);
  }
  Get(object, "command", meta.command);
  const auto rejected = object.find("rejected");
  if (rejected == object.end() || !rejected->is_object()) return meta;
  for (const auto& [reason, count] : rejected->items()) {
    if (count.is_number_unsigned()) meta.rejected[reason] = count.get<uint64_t>();
  }
  return meta;
}

// Calls `each` for every row of a query.
template <typename Each>
Status ForEachRow(Database& database, std::string_view sql, const Each& each) {
  Result<Statement> select = database.Prepare(sql);
  if (!select.ok()) return select.status();
  Result<bool> row = select->Step();
  for (; row.ok() && *row; row = select->Step()) each(*select);
  return row.status();
}

bool AreInts(const std::vector<Column>& columns, size_t count) {
  if (columns.size() != count) return false;
  for (const Column& column : columns) {
    if (column.encoding == Encoding::kDouble) return false;
  }
  return true;
}

bool IsU32(int64_t value) { return value >= 0 && value <= UINT32_MAX; }
bool IsI32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

profile::Frame FrameOf(const std::vector<Column>& columns, size_t row, size_t texts) {
  const auto value = [&](size_t column) { return columns[column].ints[row]; };
  profile::Frame frame;
  const auto is_text = [&](int64_t text) { return text >= 0 && static_cast<size_t>(text) < texts; };
  const bool is_good = value(0) >= 0 && value(0) <= static_cast<int64_t>(profile::FrameKind::kMarker) &&
                       is_text(value(1)) && is_text(value(2)) && is_text(value(3)) && IsI32(value(4)) &&
                       IsI32(value(5));
  frame.kind = is_good ? static_cast<profile::FrameKind>(value(0)) : profile::FrameKind::kMarker;
  frame.name = is_good ? static_cast<uint32_t>(value(1)) : profile::kNotKeptText;
  if (!is_good) return frame;
  frame.qualified_name = static_cast<uint32_t>(value(2));
  frame.file = static_cast<uint32_t>(value(3));
  frame.first_line = static_cast<int32_t>(value(4));
  frame.line = static_cast<int32_t>(value(5));
  return frame;
}

class Reader {
 public:
  Reader(Database& database, Status* damage) : database_(database), damage_(damage) {}

  Result<std::optional<profile::StackProfile>> Read() {
    bool is_there = false;
    StackDelta tables;
    WF_RETURN_IF_ERROR(ForEachRow(database_, "SELECT meta FROM stack_meta", [&](const Statement& row) {
      tables.meta = ParseMeta(row.Text(0));
      is_there = true;
    }));
    if (!is_there) return std::optional<profile::StackProfile>();
    WF_RETURN_IF_ERROR(ReadTexts(tables));
    WF_RETURN_IF_ERROR(ReadThreads(tables));
    WF_RETURN_IF_ERROR(ReadFrames(tables));
    WF_RETURN_IF_ERROR(ReadNodes(tables));
    profile::StackAssembler assembler;
    WF_RETURN_IF_ERROR(assembler.Add(tables));
    WF_RETURN_IF_ERROR(ReadSamples(tables.meta, assembler));
    return std::optional(assembler.Finish());
  }

 private:
  void Note(const Status& status) {
    if (!status.ok() && damage_->ok()) *damage_ = status;
  }
  static Status Wrong() { return {Code::kDataLoss, "a chunk of the run's file does not hold what it should"}; }

  Status ReadTexts(StackDelta& tables) {
    return ForEachRow(database_, "SELECT id, text FROM stack_texts ORDER BY id", [&](const Statement& row) {
      // A text that is missing must not move the numbers of those behind it.
      const int64_t id = row.Int(0);
      if (id < 0 || id > static_cast<int64_t>(profile::kMaxStrings)) return Note(Wrong());
      while (static_cast<int64_t>(tables.strings.size()) < id) tables.strings.emplace_back();
      tables.strings.emplace_back(row.Text(1));
    });
  }

  Status ReadThreads(StackDelta& tables) {
    return ForEachRow(database_, "SELECT id, process, tid, first_ns, last_ns, name FROM stack_threads ORDER BY id",
                      [&](const Statement& row) {
                        if (!IsU32(row.Int(0)) || !IsU32(row.Int(1)) || !IsI32(row.Int(2))) return Note(Wrong());
                        profile::StackThread thread{static_cast<uint32_t>(row.Int(1)), static_cast<int32_t>(row.Int(2)),
                                                    std::string(row.Text(5)), AsTime(row.Int(3)), AsTime(row.Int(4))};
                        tables.threads.push_back({static_cast<uint32_t>(row.Int(0)), std::move(thread)});
                      });
  }

  // The chunks of a table in order. A damaged one gets as many rows of `none` as it had, so that numbers stay right.
  template <typename Row, typename Decode>
  Status ReadTable(ChunkKind kind, size_t columns_wanted, size_t most, const Row& none, const Decode& decode,
                   std::vector<Row>& rows) {
    const std::string sql = fmt::format("SELECT first_ns, row_count, data FROM chunks WHERE kind={} ORDER BY first_ns",
                                        static_cast<int>(kind));
    return ForEachRow(database_, sql, [&](const Statement& row) {
      const int64_t first = row.Int(0);
      if (first < static_cast<int64_t>(rows.size()) || first > static_cast<int64_t>(most)) return Note(Wrong());
      rows.resize(static_cast<size_t>(first), none);
      const Result<std::vector<Column>> columns = DecodeChunk(row.Blob(2));
      if (!columns.ok() || !AreInts(*columns, columns_wanted)) {
        Note(columns.ok() ? Wrong() : columns.status());
        rows.resize(rows.size() + std::min<size_t>(static_cast<size_t>(row.Int(1)), kMaxChunkRows), none);
        return;
      }
      for (size_t i = 0; i < columns->front().rows(); ++i) rows.push_back(decode(*columns, i));
    });
  }

  Status ReadFrames(StackDelta& tables) {
    profile::Frame none;
    none.kind = profile::FrameKind::kMarker;
    none.name = profile::kNotKeptText;
    const auto decode = [&](const std::vector<Column>& columns, size_t row) {
      return FrameOf(columns, row, tables.strings.size());
    };
    return ReadTable(ChunkKind::kStackFrames, kFrameColumns, profile::kMaxFrames, none, decode, tables.frames);
  }

  Status ReadNodes(StackDelta& tables) {
    const profile::StackNode none{profile::kEmptyStack, profile::kNotKeptFrame};
    const auto decode = [&](const std::vector<Column>& columns, size_t row) {
      const int64_t parent = columns[0].ints[row];
      const int64_t frame = columns[1].ints[row];
      const bool is_good = IsU32(parent) && IsU32(frame) && static_cast<size_t>(parent) < tables.nodes.size() &&
                           static_cast<size_t>(frame) < tables.frames.size();
      return is_good ? profile::StackNode{static_cast<uint32_t>(parent), static_cast<uint32_t>(frame)} : none;
    };
    return ReadTable(ChunkKind::kStackNodes, kNodeColumns, profile::kMaxNodes, none, decode, tables.nodes);
  }

  Status ReadSamples(const profile::StackMeta& meta, profile::StackAssembler& assembler) {
    return ForEachRow(database_, "SELECT data FROM chunks WHERE kind=1 ORDER BY first_ns", [&](const Statement& row) {
      const Result<std::vector<Column>> columns = DecodeChunk(row.Blob(0));
      if (!columns.ok()) return Note(columns.status());
      Result<std::vector<profile::StackSample>> samples = SamplesOf(*columns);
      if (!samples.ok()) return Note(samples.status());
      if (!HasRoomFor(*samples)) return Note(Wrong());
      StackDelta piece;
      piece.samples = *std::move(samples);
      piece.meta = meta;
      Note(assembler.Add(piece));
    });
  }

  // Whether all times together still have 64 bits; a file of ours is far from it.
  bool HasRoomFor(const std::vector<profile::StackSample>& samples) {
    for (const profile::StackSample& sample : samples) {
      if (__builtin_add_overflow(total_ns_, sample.span_ns, &total_ns_)) return false;
      if (__builtin_add_overflow(total_ns_, sample.weight_ns, &total_ns_)) return false;
    }
    return true;
  }

  Database& database_;
  Status* damage_;
  int64_t total_ns_ = 0;
};

}  // namespace

Result<std::optional<profile::StackProfile>> ReadStacks(Database& database, Status* damage) {
  return Reader(database, damage).Read();
}

}  // namespace wf::store
