// The part of SqliteStore that deals with runs/<id>.db, and the removal of runs.
#include <fmt/format.h>

#include "store/folder.h"
#include "store/lost_run.h"
#include "store/migrations.h"
#include "store/run_file.h"
#include "store/sqlite_store.h"
#include "store/stack_file.h"

namespace wf::store {
namespace {

constexpr const char* kTablesOfARun[] = {"tags",  "params", "processes", "threads",  "devices",  "streams", "tasks",
                                         "nodes", "edges",  "attempts",  "findings", "requests", "runs"};

// A database and the two files that SQLite keeps beside it.
std::vector<std::filesystem::path> FilesOf(const std::filesystem::path& path) {
  return {path, path.string() + "-wal", path.string() + "-shm"};
}

profile::LogLine ReadLog(const Statement& row) {
  profile::LogLine line;
  line.attempt = static_cast<uint64_t>(row.Int(0));
  line.time_ns = row.Int(1);
  const int64_t stream = row.Int(2);
  line.stream = stream >= 0 && stream <= 2 ? static_cast<profile::Stream>(stream) : profile::Stream::kLog;
  line.level = static_cast<int32_t>(row.Int(3));
  line.text = row.Text(4);
  return line;
}

}  // namespace

Result<Database> SqliteStore::OpenRunFile(const base::RunId& id) {
  const std::filesystem::path path = RunFilePath(folder_, id);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Status(Code::kNotFound, fmt::format("run {} has no file of its own", id.ToString()));
  }
  Result<Database> database = OpenForReading(path);
  if (!database.ok()) return database.status();
  const Result<int32_t> version = CheckVersion(*database, RunFileSchema());
  if (!version.ok()) return version.status();
  if (*version == 0) return Status(Code::kNotFound, fmt::format("the file of run {} is still empty", id.ToString()));
  if (*version == RunFileSchema().newest()) return database;
  Result<Database> writable = Database::Open(path, Database::Mode::kWrite);
  if (!writable.ok()) return writable.status();
  WF_RETURN_IF_ERROR(Migrate(*writable, RunFileSchema()));
  return writable;
}

Result<std::map<uint64_t, bool>> SqliteStore::AttemptsOf(int64_t run_no, const LogFilter& filter) {
  Result<Statement> select = database_.Prepare(
      "SELECT attempts.id FROM attempts JOIN nodes ON nodes.run_no=attempts.run_no AND nodes.id=attempts.node "
      "LEFT JOIN tasks ON tasks.run_no=nodes.run_no AND tasks.id=nodes.task "
      "WHERE attempts.run_no=?1 AND (?2='' OR tasks.name=?2) AND (?3=0 OR nodes.id=?3)");
  if (!select.ok()) return select.status();
  select->Bind(1, run_no).Bind(2, filter.task).Bind(3, static_cast<int64_t>(filter.node));
  std::map<uint64_t, bool> attempts;
  Result<bool> row = select->Step();
  for (; row.ok() && *row; row = select->Step()) attempts[static_cast<uint64_t>(select->Int(0))] = true;
  if (!row.ok()) return row.status();
  return attempts;
}

Result<std::vector<profile::LogLine>> SqliteStore::Logs(const base::RunId& id, const LogFilter& filter) {
  const Result<RunRow> run = FindRun(id);
  if (!run.ok()) return run.status();
  Result<Database> file = OpenRunFile(id);
  if (!file.ok()) {
    if (file.status().code() == Code::kNotFound) return std::vector<profile::LogLine>();
    return file.status();
  }
  const bool by_attempt = !filter.task.empty() || filter.node != 0;
  std::map<uint64_t, bool> wanted;
  if (by_attempt) {
    Result<std::map<uint64_t, bool>> attempts = AttemptsOf(run->run_no, filter);
    if (!attempts.ok()) return attempts.status();
    wanted = *std::move(attempts);
  }
  Result<Statement> select = file->Prepare(
      "SELECT attempt, time_ns, stream, level, text FROM logs WHERE (?1<0 OR stream=?1) ORDER BY time_ns, id");
  if (!select.ok()) return select.status();
  select->Bind(1, filter.stream ? static_cast<int64_t>(*filter.stream) : -1);
  std::vector<profile::LogLine> lines;
  Result<bool> row = select->Step();
  for (; row.ok() && *row; row = select->Step()) {
    if (by_attempt && wanted.count(static_cast<uint64_t>(select->Int(0))) == 0) continue;
    lines.push_back(ReadLog(*select));
  }
  if (!row.ok()) return row.status();
  return lines;
}

Result<SeriesByName> SqliteStore::Series(const base::RunId& id) {
  const Result<RunRow> run = FindRun(id);
  if (!run.ok()) return run.status();
  Result<Database> file = OpenRunFile(id);
  if (!file.ok()) {
    if (file.status().code() == Code::kNotFound) return SeriesByName();
    return file.status();
  }
  Status damage;
  Result<SeriesByName> series = ReadSeries(*file, &damage);
  if (series.ok() && series->empty() && !damage.ok()) return damage.WithContext(RunFilePath(folder_, id).string());
  return series;
}

Result<profile::StackProfile> SqliteStore::Stacks(const base::RunId& id) {
  const Result<RunRow> run = FindRun(id);
  if (!run.ok()) return run.status();
  const Status none(
      Code::kNotFound,
      fmt::format("run {} has no recorded stacks: only recordings and profiled runs have them", id.ToString()));
  Result<Database> file = OpenRunFile(id);
  if (!file.ok()) return file.status().code() == Code::kNotFound ? none : file.status();
  Status damage;
  Result<std::optional<profile::StackProfile>> stacks = ReadStacks(*file, &damage);
  if (!stacks.ok()) return stacks.status();
  if (!*stacks) return none;
  if ((*stacks)->samples.empty() && !damage.ok()) return damage.WithContext(RunFilePath(folder_, id).string());
  profile::StackProfile profile = **std::move(stacks);
  WF_RETURN_IF_ERROR(ReadRows("processes", "id", run->run_no, &ReadProcess, profile.processes));
  return profile;
}

Status SqliteStore::Remove(const base::RunId& id) {
  WF_RETURN_IF_ERROR(RequireWrite("removing a run"));
  const Result<RunRow> run = FindRun(id);
  if (!run.ok()) return run.status();
  if (!base::IsFinal(run->run.state)) {
    return {Code::kFailedPrecondition,
            fmt::format("run {} is still going (process {}): cancel it first, or wait for its end", id.ToString(),
                        run->owner.pid)};
  }
  // Files first: a row without a file can be removed again, a file without a row would stay for ever.
  for (const std::filesystem::path& path : FilesOf(RunFilePath(folder_, id))) {
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return {Code::kIo, fmt::format("cannot remove {}: {}", path.string(), error.message())};
  }
  Result<Transaction> transaction = Transaction::Begin(database_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  for (const char* table : kTablesOfARun) {
    Result<Statement> remove = database_.Prepare(fmt::format("DELETE FROM {} WHERE run_no=?", table));
    if (!remove.ok()) return remove.status();
    WF_RETURN_IF_ERROR(remove->Bind(1, run->run_no).Run());
  }
  WF_RETURN_IF_ERROR(transaction->Commit());
  // Gives the space back to the disk; it is only late when somebody else holds the store.
  const Status vacuum = database_.Exec("PRAGMA incremental_vacuum");
  return IsBusy(vacuum) ? Status() : vacuum;
}

// Rows of runs.db are not counted one by one: a run has its share by its nodes, which stand for most of its rows.
Result<int64_t> SqliteStore::ShareOfDatabase(int64_t run_no) {
  Result<Statement> select = database_.Prepare(
      "SELECT (SELECT node_count + 1 FROM runs WHERE run_no=?), (SELECT sum(node_count + 1) FROM runs)");
  if (!select.ok()) return select.status();
  const Result<bool> row = select->Bind(1, run_no).Step();
  if (!row.ok()) return row.status();
  const Result<int64_t> pages = database_.QueryInt("PRAGMA page_count");
  if (!pages.ok()) return pages.status();
  const Result<int64_t> unused = database_.QueryInt("PRAGMA freelist_count");
  if (!unused.ok()) return unused.status();
  const Result<int64_t> page_bytes = database_.QueryInt("PRAGMA page_size");
  if (!page_bytes.ok()) return page_bytes.status();
  const double share = static_cast<double>(select->Int(0)) / static_cast<double>(std::max<int64_t>(select->Int(1), 1));
  return static_cast<int64_t>(static_cast<double>((*pages - *unused) * *page_bytes) * share);
}

Result<uint64_t> SqliteStore::SizeOf(const base::RunId& id) {
  const Result<RunRow> run = FindRun(id);
  if (!run.ok()) return run.status();
  const Result<int64_t> share = ShareOfDatabase(run->run_no);
  if (!share.ok()) return share.status();
  uint64_t total = static_cast<uint64_t>(*share);
  for (const std::filesystem::path& path : FilesOf(RunFilePath(folder_, id))) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) total += size;
  }
  return total;
}

}  // namespace wf::store
