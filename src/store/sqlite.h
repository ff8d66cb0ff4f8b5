// Database and Statement: SQLite with our Status, owned handles and bound integers. The only file that includes
// sqlite3.h beside its .cc, so that the rest of the room reads as SQL and values.
//
// Threading: one thread at a time for a Database and its Statements. They may move to another thread.
#ifndef WF_STORE_SQLITE_H_
#define WF_STORE_SQLITE_H_

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "wf/status.h"

namespace wf::store {

// One prepared statement. Texts and blobs that are bound must live until the statement was run.
class Statement {
 public:
  Statement() = default;

  Statement& Bind(int index, int64_t value) {
    Note(sqlite3_bind_int64(handle_.get(), index, value));
    return *this;
  }
  Statement& Bind(int index, std::string_view text) {
    // A null pointer would bind NULL.
    const char* data = text.data() == nullptr ? "" : text.data();
    Note(sqlite3_bind_text64(handle_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
  }
  Statement& BindBlob(int index, std::string_view bytes) {
    const char* data = bytes.data() == nullptr ? "" : bytes.data();
    Note(sqlite3_bind_blob64(handle_.get(), index, data, bytes.size(), SQLITE_STATIC));
    return *this;
  }
  Statement& BindNull(int index) {
    Note(sqlite3_bind_null(handle_.get(), index));
    return *this;
  }

  // Runs to the end, ignoring rows, and makes the statement ready to be bound again.
  Status Run();
  // The next row: true when there is one. After false or an error the statement is ready to be bound again.
  Result<bool> Step();
  void Reset() { sqlite3_reset(handle_.get()); }

  // Of the current row; columns count from 0. Views live until the next Step.
  int64_t Int(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  bool IsNull(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::string_view Text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    return data == nullptr ? std::string_view()
                           : std::string_view(data, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column)));
  }
  std::string_view Blob(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
    return data == nullptr ? std::string_view()
                           : std::string_view(data, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column)));
  }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void Note(int rc) {
    if (rc != SQLITE_OK) bind_error_ = rc;
  }
  Status Fail(int rc);

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bind_error_ = SQLITE_OK;
};

class Database {
 public:
  enum class Mode : uint8_t {
    kRead,       // the file must exist; sees what a live writer commits
    kImmutable,  // the same without locks or WAL: only right when nobody writes
    kWrite,      // the file must exist
    kCreate,
  };

  // Waits up to `busy_timeout_ms` when another process holds the file. Write modes set WAL and synchronous=NORMAL.
  static Result<Database> Open(const std::filesystem::path& path, Mode mode, int busy_timeout_ms = 10'000);

  // Runs one or more statements that return no rows.
  Status Exec(const char* sql);
  // `sql` must be correct for the schema: an error here names it.
  Result<Statement> Prepare(std::string_view sql);
  // The first column of the first row; 0 when there is no row.
  Result<int64_t> QueryInt(std::string_view sql);

  int64_t LastInsertId() const { return sqlite3_last_insert_rowid(handle_.get()); }
  int64_t Changes() const { return sqlite3_changes64(handle_.get()); }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  Database() = default;
  Status SetUp(Mode mode);

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// BEGIN … COMMIT; rolled back by the destructor when Commit was not reached.
class Transaction {
 public:
  enum class Kind : uint8_t { kRead, kWrite };
  static Result<Transaction> Begin(Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

// Whether the error means "another process holds the file": worth another try.
bool IsBusy(const Status& status);

}  // namespace wf::store

#endif  // WF_STORE_SQLITE_H_
