// Rows: each value of the model to and from its row in runs.db. Column order is that of the schema.
#ifndef WF_STORE_ROWS_H_
#define WF_STORE_ROWS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/process_id.h"
#include "profile/model.h"
#include "store/sqlite.h"

namespace wf::store {

// INSERT OR REPLACE statements; `run_no` is parameter 1, the rest is bound by the Bind* below.
inline constexpr std::string_view kPutProcess = "INSERT OR REPLACE INTO processes VALUES(?,?,?,?,?,?,?,?,?,?)";
inline constexpr std::string_view kPutTask = "INSERT OR REPLACE INTO tasks VALUES(?,?,?,?,?,?,?)";
inline constexpr std::string_view kPutNode = "INSERT OR REPLACE INTO nodes VALUES(?,?,?,?,?,?,?,?,?,?)";
inline constexpr std::string_view kPutEdge = "INSERT OR REPLACE INTO edges VALUES(?,?,?,?,?,?)";
inline constexpr std::string_view kPutAttempt =
    "INSERT OR REPLACE INTO attempts VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?, "
    "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?, ?,?,?)";

// Texts are bound by reference: the value must live until the statement was run.
void BindProcess(Statement& put, const profile::Process& process);
void BindTask(Statement& put, const profile::Task& task);
void BindNode(Statement& put, const profile::Node& node);
void BindEdge(Statement& put, const profile::Edge& edge);
void BindAttempt(Statement& put, const profile::Attempt& attempt);

// From `SELECT * FROM <table>`.
profile::Process ReadProcess(const Statement& row);
profile::Task ReadTask(const Statement& row);
profile::Node ReadNode(const Statement& row);
profile::Edge ReadEdge(const Statement& row);
profile::Attempt ReadAttempt(const Statement& row);

// What the run's own row holds beside profile::Run.
struct RunRow {
  int64_t run_no = 0;
  profile::Run run;  // tags and params apart
  base::ProcessId owner;
  int64_t heartbeat_wall_ns = 0;
  int64_t heartbeat_ns = 0;
  bool closed = false;
  uint64_t node_count = 0;
  uint64_t failed_nodes = 0;
  uint64_t lost_rows = 0;
};

// The columns that ReadRunRow expects, for SELECT.
inline constexpr std::string_view kRunColumns =
    "run_no, id, kind, workflow, file, argv, commit_id, executor, workers, mode, usable_cpus_milli, python, state, "
    "cause, "
    "start_wall_ns, start_ns, end_ns, owner_host, owner_boot_id, owner_pid_namespace, owner_pid, owner_start_ticks, "
    "heartbeat_wall_ns, heartbeat_ns, closed, node_count, failed_nodes, lost_rows";
RunRow ReadRunRow(const Statement& row);

// Adds the row of a run with its owner, tags and params, and returns its number. Secrets are replaced on the way.
Result<int64_t> InsertRun(Database& database, const profile::Run& run, const base::ProcessId& owner);
// Overwrites what may change after the start, tags and params included.
Status UpdateRun(Database& database, int64_t run_no, const profile::Run& run);

// A 16-byte id as a blob; the view lives as long as the id.
inline std::string_view BlobOf(const base::RunId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

// The id in a blob of 16 bytes; nil for any other length.
inline base::RunId RunIdOf(std::string_view blob) {
  base::RunId id;
  if (blob.size() == id.bytes.size()) std::copy(blob.begin(), blob.end(), id.bytes.begin());
  return id;
}

}  // namespace wf::store

#endif  // WF_STORE_ROWS_H_
