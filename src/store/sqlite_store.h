// SqliteStore: the Store over runs.db and runs/<id>.db.
#ifndef WF_STORE_SQLITE_STORE_H_
#define WF_STORE_SQLITE_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/rows.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace wf::store {

class SqliteStore final : public Store {
 public:
  // `database`: runs.db of the folder, at the newest schema.
  SqliteStore(std::filesystem::path folder, Access access, Database database)
      : folder_(std::move(folder)), access_(access), database_(std::move(database)) {}

  const std::filesystem::path& folder() const override { return folder_; }
  Result<std::unique_ptr<RunWriter>> BeginRun(const profile::Run& run, const profile::Process& owner) override;
  Result<std::unique_ptr<RunWriter>> JoinRun(const base::RunId& id) override;
  Result<std::vector<RunSummary>> ListRuns(const RunFilter& filter) override;
  Result<base::RunId> Resolve(std::string_view text) override;
  Result<profile::RunRecord> Load(const base::RunId& id) override;
  Result<std::vector<profile::LogLine>> Logs(const base::RunId& id, const LogFilter& filter) override;
  Result<std::map<std::string, std::vector<profile::SeriesPoint>>> Series(const base::RunId& id) override;
  Result<profile::StackProfile> Stacks(const base::RunId& id) override;
  Status AddRequest(const base::RunId& id, RequestKind kind, std::string_view detail) override;
  Status Remove(const base::RunId& id) override;
  Result<uint64_t> SizeOf(const base::RunId& id) override;

 private:
  Status RequireWrite(std::string_view what) const;
  // The run's row, judged (lost or not), with tags and params.
  Result<RunRow> FindRun(const base::RunId& id);
  Status ReadNamed(const char* table, int64_t run_no, std::map<std::string, std::string>& out);
  Result<base::RunId> ResolveTag(std::string_view tag);
  // Reads all rows of a run: SELECT * FROM <table> WHERE run_no=? ORDER BY <order>.
  template <typename T>
  Status ReadRows(const char* table, const char* order, int64_t run_no, T (*read)(const Statement&),
                  std::vector<T>& out);
  // Bytes of runs.db that one run accounts for, estimated.
  Result<int64_t> ShareOfDatabase(int64_t run_no);
  // The run's own file; kNotFound when it has none.
  Result<Database> OpenRunFile(const base::RunId& id);
  Result<std::map<uint64_t, bool>> AttemptsOf(int64_t run_no, const LogFilter& filter);

  std::filesystem::path folder_;
  Access access_;
  Database database_;
};

// Opens an existing database for reading, also where this process may not write (see docs/formats/store.md).
Result<Database> OpenForReading(const std::filesystem::path& path);

// Makes ids dense and references valid where rows were lost. kDataLoss when an id is absurd.
Status FillGaps(profile::RunRecord& record);

}  // namespace wf::store

#endif  // WF_STORE_SQLITE_STORE_H_
