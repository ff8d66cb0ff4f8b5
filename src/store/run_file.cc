#include "store/run_file.h"

#include <algorithm>

#include "base/redact.h"
#include "store/chunk.h"
#include "store/migrations.h"

namespace wf::store {
namespace {

// Rewriting an open chunk costs its whole size; so it is closed long before the 65,536 rows that the format allows.
constexpr size_t kOpenChunkRows = 4'096;

// Columns of a series chunk, in this order.
enum SeriesColumn : size_t { kName = 0, kAttempt, kTime, kValue, kSeriesColumns };

std::string EncodeSeries(const std::vector<SeriesRow>& rows) {
  std::vector<Column> columns(kSeriesColumns);
  columns[kTime].encoding = Encoding::kDelta;
  columns[kAttempt].encoding = Encoding::kDelta;
  columns[kValue].encoding = Encoding::kDouble;
  for (const SeriesRow& row : rows) {
    columns[kName].ints.push_back(int64_t{row.name} + 1);  // ids in `strings` count from 1
    columns[kAttempt].ints.push_back(static_cast<int64_t>(row.point.attempt));
    columns[kTime].ints.push_back(row.point.time_ns);
    columns[kValue].doubles.push_back(row.point.value);
  }
  return EncodeChunk(columns);
}

Status AddChunk(std::string_view data, uint32_t process, const std::map<int64_t, std::string>& names,
                SeriesByName& series) {
  const Result<std::vector<Column>> columns = DecodeChunk(data);
  if (!columns.ok()) return columns.status();
  const bool is_series = columns->size() == kSeriesColumns && (*columns)[kValue].encoding == Encoding::kDouble &&
                         std::all_of(columns->begin(), columns->begin() + kValue,
                                     [](const Column& column) { return column.encoding != Encoding::kDouble; });
  if (!is_series) return {Code::kDataLoss, "a chunk of the run's file does not hold series"};
  for (size_t row = 0; row < (*columns)[kValue].rows(); ++row) {
    const auto name = names.find((*columns)[kName].ints[row]);
    if (name == names.end()) continue;
    series[name->second].push_back({process, static_cast<uint64_t>((*columns)[kAttempt].ints[row]),
                                    (*columns)[kTime].ints[row], (*columns)[kValue].doubles[row]});
  }
  return {};
}

}  // namespace

Status RunFileWriter::Open() {
  if (database_) return {};
  // Its folder was made with the store: if that is gone, somebody removed it, and half a store must not come back.
  Result<Database> database = Database::Open(path_, Database::Mode::kCreate);
  if (!database.ok()) return database.status();
  WF_RETURN_IF_ERROR(Migrate(*database, RunFileSchema()));
  const std::pair<Statement*, std::string_view> wanted[] = {
      {&put_log_, "INSERT INTO logs(attempt, time_ns, stream, level, text) VALUES(?,?,?,?,?)"},
      {&put_name_, "INSERT OR REPLACE INTO strings VALUES(?,?)"},
      {&put_chunk_,
       "INSERT OR REPLACE INTO chunks(id, kind, process, first_ns, last_ns, row_count, data) VALUES(?,?,?,?,?,?,?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    Result<Statement> prepared = database->Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    *statement = *std::move(prepared);
  }
  WF_RETURN_IF_ERROR(stacks_.Prepare(*database));
  database_.emplace(*std::move(database));
  return {};
}

Status RunFileWriter::WriteLogs(const RowList<profile::LogLine>& logs) {
  for (size_t i = 0; i < logs.size(); ++i) {
    const profile::LogLine& line = logs[i];
    const std::string text = base::RedactText(line.text);
    put_log_.Bind(1, static_cast<int64_t>(line.attempt))
        .Bind(2, line.time_ns)
        .Bind(3, static_cast<int64_t>(line.stream));
    WF_RETURN_IF_ERROR(put_log_.Bind(4, line.level).Bind(5, text).Run());
  }
  return {};
}

Status RunFileWriter::WriteNames(const std::vector<std::string>& names) {
  for (size_t i = names_written_; i < names.size(); ++i) {
    WF_RETURN_IF_ERROR(put_name_.Bind(1, static_cast<int64_t>(i) + 1).Bind(2, names[i]).Run());
  }
  return {};
}

Status RunFileWriter::WriteChunk(uint32_t process, OpenChunk& open) {
  const auto by_time = [](const SeriesRow& a, const SeriesRow& b) { return a.point.time_ns < b.point.time_ns; };
  const auto [first, last] = std::minmax_element(open.rows.begin(), open.rows.end(), by_time);
  const std::string data = EncodeSeries(open.rows);
  if (open.chunk_id == 0) {
    put_chunk_.BindNull(1);
  } else {
    put_chunk_.Bind(1, open.chunk_id);
  }
  put_chunk_.Bind(2, static_cast<int64_t>(ChunkKind::kSeries)).Bind(3, process).Bind(4, first->point.time_ns);
  put_chunk_.Bind(5, last->point.time_ns).Bind(6, static_cast<int64_t>(open.rows.size())).BindBlob(7, data);
  WF_RETURN_IF_ERROR(put_chunk_.Run());
  if (open.chunk_id == 0) open.chunk_id = database_->LastInsertId();
  return {};
}

Status RunFileWriter::WriteSeries(std::map<uint32_t, OpenChunk>& open) {
  for (auto& [process, all] : open) {
    // A flush may bring more than one chunk's worth: the full ones first, the rest stays open.
    size_t done = 0;
    while (all.rows.size() - done > kOpenChunkRows) {
      const auto begin = all.rows.begin() + static_cast<ptrdiff_t>(done);
      OpenChunk full{all.chunk_id, {begin, begin + kOpenChunkRows}};
      WF_RETURN_IF_ERROR(WriteChunk(process, full));
      all.chunk_id = 0;
      done += kOpenChunkRows;
    }
    all.rows.erase(all.rows.begin(), all.rows.begin() + static_cast<ptrdiff_t>(done));
    if (!all.rows.empty()) WF_RETURN_IF_ERROR(WriteChunk(process, all));
  }
  return {};
}

Status RunFileWriter::Write(const Batch& batch, const std::vector<std::string>& names) {
  if (batch.logs.empty() && batch.series.empty() && !batch.stacks) return {};
  WF_RETURN_IF_ERROR(Open());
  // The processes that have news, with copies: the members change only when all is on disk.
  std::map<uint32_t, OpenChunk> open;
  for (size_t i = 0; i < batch.series.size(); ++i) {
    const SeriesRow& row = batch.series[i];
    const auto [at, is_new] = open.try_emplace(row.point.process);
    if (is_new) at->second = open_[row.point.process];
    at->second.rows.push_back(row);
  }
  Result<Transaction> transaction = Transaction::Begin(*database_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  WF_RETURN_IF_ERROR(WriteLogs(batch.logs));
  WF_RETURN_IF_ERROR(WriteNames(names));
  WF_RETURN_IF_ERROR(WriteSeries(open));
  if (batch.stacks) WF_RETURN_IF_ERROR(stacks_.Write(*batch.stacks, *database_));
  WF_RETURN_IF_ERROR(transaction->Commit());
  names_written_ = names.size();
  if (batch.stacks) stacks_.Committed();
  for (auto& [process, chunk] : open) open_[process] = std::move(chunk);
  return {};
}

Result<SeriesByName> ReadSeries(Database& database, Status* damage) {
  std::map<int64_t, std::string> names;
  Result<Statement> strings = database.Prepare("SELECT id, text FROM strings");
  if (!strings.ok()) return strings.status();
  Result<bool> row = strings->Step();
  for (; row.ok() && *row; row = strings->Step()) names.emplace(strings->Int(0), strings->Text(1));
  if (!row.ok()) return row.status();
  Result<Statement> chunks =
      database.Prepare("SELECT process, data FROM chunks WHERE kind=0 ORDER BY process, first_ns");
  if (!chunks.ok()) return chunks.status();
  SeriesByName series;
  row = chunks->Step();
  for (; row.ok() && *row; row = chunks->Step()) {
    const Status status = AddChunk(chunks->Blob(1), static_cast<uint32_t>(chunks->Int(0)), names, series);
    if (!status.ok() && damage->ok()) *damage = status;
  }
  if (!row.ok()) return row.status();
  for (auto& [name, points] : series) {
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  }
  return series;
}

}  // namespace wf::store
