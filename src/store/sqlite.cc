#include "store/sqlite.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace wf::store {
namespace {

// Code and way out of a primary result code of SQLite.
struct Reading {
  Code code;
  std::string_view way_out;
};

Reading ReadingOf(int rc) {
  switch (rc & 0xFF) {
    case SQLITE_FULL: return {Code::kIo, "; free some space (wf clean) or use another folder (--store)"};
    case SQLITE_IOERR: return {Code::kIo, "; check the disk, or use another folder (--store)"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return {Code::kPermissionDenied, "; make the folder writable, or use another one (--store)"};
    case SQLITE_CANTOPEN: return {Code::kPermissionDenied, "; check that the folder is there and that you may use it"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return {Code::kTimeout, "; another process holds the store: try again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return {Code::kDataLoss, "; move the file away to start a new store"};
    case SQLITE_NOMEM: return {Code::kIo, ""};
    default: return {Code::kInternal, ""};
  }
}

Status ErrorOf(sqlite3* database, int rc) {
  const char* file = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  // The text for the extended code says more ("disk I/O error" alone helps nobody): add the number.
  const Reading reading = ReadingOf(rc);
  return {reading.code,
          fmt::format("{}: {} (SQLite {}){}", file == nullptr ? "store" : file,
                      database == nullptr ? sqlite3_errstr(rc) : sqlite3_errmsg(database), rc, reading.way_out)};
}

// A file: URI, needed for immutable=1. Everything that could be read as URI syntax is escaped.
std::string UriOf(const std::filesystem::path& path, Database::Mode mode) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return mode == Database::Mode::kImmutable ? uri + "?immutable=1" : uri;
}

int FlagsOf(Database::Mode mode) {
  const int common = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case Database::Mode::kRead:
    case Database::Mode::kImmutable: return common | SQLITE_OPEN_READONLY;
    case Database::Mode::kWrite: return common | SQLITE_OPEN_READWRITE;
    case Database::Mode::kCreate: return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return common;
}

}  // namespace

Status Statement::Fail(int rc) {
  sqlite3* database = sqlite3_db_handle(handle_.get());
  Status status = ErrorOf(database, rc);
  sqlite3_reset(handle_.get());
  return status;
}

Status Statement::Run() {
  int rc = std::exchange(bind_error_, SQLITE_OK);
  if (rc == SQLITE_OK) {
    do {
      rc = sqlite3_step(handle_.get());
    } while (rc == SQLITE_ROW);
  }
  if (rc != SQLITE_DONE) return Fail(rc);
  sqlite3_reset(handle_.get());
  return {};
}

Result<bool> Statement::Step() {
  if (const int rc = std::exchange(bind_error_, SQLITE_OK); rc != SQLITE_OK) return Fail(rc);
  const int rc = sqlite3_step(handle_.get());
  if (rc == SQLITE_ROW) return true;
  if (rc != SQLITE_DONE) return Fail(rc);
  sqlite3_reset(handle_.get());
  return false;
}

Result<Database> Database::Open(const std::filesystem::path& path, Mode mode, int busy_timeout_ms) {
  Database database;
  database.path_ = path;
  sqlite3* handle = nullptr;
  const int rc = sqlite3_open_v2(UriOf(path, mode).c_str(), &handle, FlagsOf(mode), nullptr);
  database.handle_.reset(handle);
  if (rc != SQLITE_OK) {
    const Status status = ErrorOf(nullptr, rc);
    return Status(status.code(), fmt::format("{}{}", path.string(), status.message().substr(5)));
  }
  sqlite3_busy_timeout(handle, busy_timeout_ms);
  WF_RETURN_IF_ERROR(database.SetUp(mode));
  return database;
}

Status Database::SetUp(Mode mode) {
  if (mode == Mode::kRead || mode == Mode::kImmutable) return {};
  // Can be chosen only before the file has its first page; it lets `wf clean` give space back.
  if (mode == Mode::kCreate) WF_RETURN_IF_ERROR(Exec("PRAGMA auto_vacuum=INCREMENTAL"));
  // Switching to WAL takes an exclusive lock that the busy time-out does not always wait for.
  Status status;
  for (int attempt = 0; attempt < 100; ++attempt) {
    status = Exec("PRAGMA journal_mode=WAL");
    if (!IsBusy(status)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  WF_RETURN_IF_ERROR(status);
  return Exec("PRAGMA synchronous=NORMAL");
}

Status Database::Exec(const char* sql) {
  const int rc = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  return rc == SQLITE_OK ? Status() : ErrorOf(handle_.get(), rc);
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int rc = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                    &raw, nullptr);
  Statement statement;
  statement.handle_.reset(raw);
  if (rc != SQLITE_OK) return ErrorOf(handle_.get(), rc).WithContext(fmt::format("preparing '{:.60}'", sql));
  return statement;
}

Result<int64_t> Database::QueryInt(std::string_view sql) {
  Result<Statement> statement = Prepare(sql);
  if (!statement.ok()) return statement.status();
  const Result<bool> row = statement->Step();
  if (!row.ok()) return row.status();
  return *row ? statement->Int(0) : 0;
}

Result<Transaction> Transaction::Begin(Database& database, Kind kind) {
  WF_RETURN_IF_ERROR(database.Exec(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (full disk); then this fails, and there is nothing to undo.
  if (database_ != nullptr) (void)database_->Exec("ROLLBACK");
}

Status Transaction::Commit() {
  WF_RETURN_IF_ERROR(database_->Exec("COMMIT"));
  database_ = nullptr;
  return {};
}

bool IsBusy(const Status& status) { return status.code() == Code::kTimeout; }

}  // namespace wf::store
