#include "store/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process_id.h"
#include "base/redact.h"
#include "store/folder.h"
#include "store/lost_run.h"
#include "store/resolve.h"
#include "store/run_writer_thread.h"

namespace wf::store {

Status SqliteStore::RequireWrite(std::string_view what) const {
  if (access_ == Access::kReadWrite) return {};
  return {Code::kFailedPrecondition, fmt::format("{} needs the store {} opened for writing", what, folder_.string())};
}

Result<std::unique_ptr<RunWriter>> SqliteStore::BeginRun(const profile::Run& run, const profile::Process& owner) {
  WF_RETURN_IF_ERROR(RequireWrite("starting a run"));
  Result<Database> database = Database::Open(RunsDbPath(folder_), Database::Mode::kWrite);
  if (!database.ok()) return database.status();
  const Result<int64_t> run_no = InsertRun(*database, run, base::ProcessId::Self());
  if (!run_no.ok()) return run_no.status();
  Result<RunsDbWriter> runs = RunsDbWriter::Make(*std::move(database), *run_no);
  if (!runs.ok()) return runs.status();
  std::unique_ptr<RunWriter> writer =
      std::make_unique<RunWriterThread>(*std::move(runs), RunFileWriter(RunFilePath(folder_, run.id)), run.state);
  writer->PutProcess(owner);
  return writer;
}

Result<std::unique_ptr<RunWriter>> SqliteStore::JoinRun(const base::RunId& id) {
  WF_RETURN_IF_ERROR(RequireWrite("joining a run"));
  const Result<RunRow> row = FindRun(id);
  if (!row.ok()) return row.status();
  return std::unique_ptr<RunWriter>(
      std::make_unique<RunWriterThread>(std::nullopt, RunFileWriter(RunFilePath(folder_, id)), row->run.state));
}

Status SqliteStore::ReadNamed(const char* table, int64_t run_no, std::map<std::string, std::string>& out) {
  Result<Statement> select = database_.Prepare(fmt::format("SELECT name, value FROM {} WHERE run_no=?", table));
  if (!select.ok()) return select.status();
  select->Bind(1, run_no);
  Result<bool> row = select->Step();
  for (; row.ok() && *row; row = select->Step()) out.emplace(select->Text(0), select->Text(1));
  return row.status();
}

Result<std::vector<RunSummary>> SqliteStore::ListRuns(const RunFilter& filter) {
  const Result<Transaction> snapshot = Transaction::Begin(database_, Transaction::Kind::kRead);
  if (!snapshot.ok()) return snapshot.status();
  Result<Statement> select = database_.Prepare(fmt::format(
      "SELECT {} FROM runs WHERE (?1='' OR workflow=?1) AND start_wall_ns>=?2 ORDER BY id DESC", kRunColumns));
  if (!select.ok()) return select.status();
  select->Bind(1, filter.workflow).Bind(2, filter.since_wall_ns);
  std::vector<RunSummary> runs;
  Result<bool> more = select->Step();
  for (; more.ok() && *more; more = select->Step()) {
    RunRow row = ReadRunRow(*select);
    JudgeRun(row);
    if (filter.state && row.run.state != *filter.state) continue;
    WF_RETURN_IF_ERROR(ReadNamed("tags", row.run_no, row.run.tags));
    WF_RETURN_IF_ERROR(ReadNamed("params", row.run_no, row.run.params));
    const int64_t end_ns = row.run.end_ns != 0 ? row.run.end_ns : row.heartbeat_ns;
    runs.push_back({std::move(row.run), row.node_count, row.failed_nodes, 0, row.lost_rows});
    runs.back().wall_ns = std::max<int64_t>(0, end_ns - runs.back().run.start_ns);
    if (filter.limit != 0 && runs.size() == filter.limit) return runs;
  }
  if (!more.ok()) return more.status();
  return runs;
}

Result<base::RunId> SqliteStore::ResolveTag(std::string_view tag) {
  const size_t equals = tag.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Status(Code::kInvalidArgument, fmt::format("'tag:{}' is no tag: write tag:key=value", tag));
  }
  Result<Statement> select = database_.Prepare(
      "SELECT id FROM runs JOIN tags USING(run_no) WHERE name=?1 AND value=?2 ORDER BY id DESC LIMIT 1");
  if (!select.ok()) return select.status();
  select->Bind(1, tag.substr(0, equals)).Bind(2, tag.substr(equals + 1));
  const Result<bool> row = select->Step();
  if (!row.ok()) return row.status();
  const base::RunId id = *row ? RunIdOf(select->Blob(0)) : base::RunId();
  if (id.IsNil()) {
    return Status(Code::kNotFound, fmt::format("no run in {} has the tag {} (see `wf runs`)", folder_.string(), tag));
  }
  return id;
}

Result<base::RunId> SqliteStore::Resolve(std::string_view text) {
  if (text.starts_with("tag:")) return ResolveTag(text.substr(4));
  Result<Statement> select = database_.Prepare("SELECT id, workflow FROM runs ORDER BY id DESC");
  if (!select.ok()) return select.status();
  std::vector<RunName> runs;
  Result<bool> row = select->Step();
  for (; row.ok() && *row; row = select->Step()) {
    RunName& run = runs.emplace_back();
    run.id = RunIdOf(select->Blob(0));
    run.workflow = select->Text(1);
  }
  if (!row.ok()) return row.status();
  const Result<base::RunId> found = ResolveAmong(runs, text);
  return found.ok() ? found : found.status().WithContext(folder_.string());
}

Result<RunRow> SqliteStore::FindRun(const base::RunId& id) {
  Result<Statement> select = database_.Prepare(fmt::format("SELECT {} FROM runs WHERE id=?", kRunColumns));
  if (!select.ok()) return select.status();
  const Result<bool> found = select->BindBlob(1, BlobOf(id)).Step();
  if (!found.ok()) return found.status();
  if (!*found) {
    return Status(Code::kNotFound, fmt::format("no run {} in {} (see `wf runs`)", id.ToString(), folder_.string()));
  }
  RunRow row = ReadRunRow(*select);
  JudgeRun(row);
  WF_RETURN_IF_ERROR(ReadNamed("tags", row.run_no, row.run.tags));
  WF_RETURN_IF_ERROR(ReadNamed("params", row.run_no, row.run.params));
  return row;
}

template <typename T>
Status SqliteStore::ReadRows(const char* table, const char* order, int64_t run_no, T (*read)(const Statement&),
                             std::vector<T>& out) {
  Result<Statement> select =
      database_.Prepare(fmt::format("SELECT * FROM {} WHERE run_no=? ORDER BY {}", table, order));
  if (!select.ok()) return select.status();
  select->Bind(1, run_no);
  Result<bool> row = select->Step();
  for (; row.ok() && *row; row = select->Step()) out.push_back(read(*select));
  return row.status();
}

Result<profile::RunRecord> SqliteStore::Load(const base::RunId& id) {
  // One snapshot of a store that somebody may be writing to.
  const Result<Transaction> snapshot = Transaction::Begin(database_, Transaction::Kind::kRead);
  if (!snapshot.ok()) return snapshot.status();
  Result<RunRow> row = FindRun(id);
  if (!row.ok()) return row.status();
  profile::RunRecord record;
  record.run = std::move(row->run);
  WF_RETURN_IF_ERROR(ReadRows("processes", "id", row->run_no, &ReadProcess, record.processes));
  WF_RETURN_IF_ERROR(ReadRows("tasks", "id", row->run_no, &ReadTask, record.tasks));
  WF_RETURN_IF_ERROR(ReadRows("nodes", "id", row->run_no, &ReadNode, record.nodes));
  WF_RETURN_IF_ERROR(ReadRows("edges", "to_node, from_node, kind", row->run_no, &ReadEdge, record.edges));
  WF_RETURN_IF_ERROR(ReadRows("attempts", "id", row->run_no, &ReadAttempt, record.attempts));
  WF_RETURN_IF_ERROR(FillGaps(record));
  CloseOpenRows(record);
  return record;
}

Status SqliteStore::AddRequest(const base::RunId& id, RequestKind kind, std::string_view detail) {
  WF_RETURN_IF_ERROR(RequireWrite("a request to a run"));
  const Result<RunRow> row = FindRun(id);
  if (!row.ok()) return row.status();
  if (base::IsFinal(row->run.state)) {
    return {Code::kFailedPrecondition, fmt::format("run {} has already ended ({}): nobody is there to take a request",
                                                   id.ToString(), Name(row->run.state))};
  }
  Result<Statement> insert =
      database_.Prepare("INSERT INTO requests(run_no, kind, detail, created_wall_ns) VALUES(?,?,?,?)");
  if (!insert.ok()) return insert.status();
  insert->Bind(1, row->run_no).Bind(2, static_cast<int64_t>(kind)).Bind(3, detail).Bind(4, base::WallNs());
  return insert->Run();
}

}  // namespace wf::store
