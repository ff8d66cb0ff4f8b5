// Store: the folder `.wf` in which runs live; the only place that speaks SQL. Format: docs/formats/store.md.
//
// `runs.db` (SQLite, WAL) holds runs to usage, `runs/<id>.db` holds what is large: log lines, and columnar zstd chunks
// of stacks, calls, allocs, ops and series. Several processes may use one folder at once. A run whose owner no longer
// lives (pid + start time + boot id) is read as `lost`, never as running or success.
//
// Threading: a Store may be used from one thread at a time; a RunWriter has a thread of its own.
#ifndef WF_STORE_STORE_H_
#define WF_STORE_STORE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/run_record.h"
#include "profile/stacks.h"
#include "store/run_writer.h"
#include "wf/status.h"

namespace wf::store {

// The folder to use: `explicit_folder` (--store) if not empty, else $WF_STORE, else `.wf` beside the nearest
// workflow.toml from the current folder upwards, else `.wf` in the current folder. Creates nothing.
std::filesystem::path Locate(std::string_view explicit_folder);

enum class Access { kRead, kReadWrite };

struct RunFilter {
  std::string workflow;                 // empty: all
  std::optional<base::RunState> state;  // after owners were checked
  int64_t since_wall_ns = 0;
  size_t limit = 0;  // newest first; 0: all
};

// A line of `wf runs`.
struct RunSummary {
  profile::Run run;
  uint64_t nodes = 0;
  uint64_t failed_nodes = 0;
  int64_t wall_ns = 0;     // end - start; for a live or lost run: up to its last sign of life
  uint64_t lost_rows = 0;  // that its owner could not write (full disk); then the rest is incomplete
};

struct LogFilter {
  std::string task;   // empty: all
  uint64_t node = 0;  // 0: all
  std::optional<profile::Stream> stream;
};

// What a request to a running owner is (rows that the owner reads at each flush).
enum class RequestKind : uint8_t { kCancel = 0, kDump = 1, kTrace = 2 };

class Store {
 public:
  // kReadWrite creates the folder and schema, and migrates an older schema. Errors: kNotFound (kRead, no store there:
  // the message says how to make one), kFailedPrecondition (a newer schema, or a network file system, with the way
  // out), kIo, kPermissionDenied.
  static Result<std::unique_ptr<Store>> Open(const std::filesystem::path& folder, Access access);
  virtual ~Store() = default;

  virtual const std::filesystem::path& folder() const = 0;

  // Starts a run owned by this process. The writer works on after the Store is gone.
  virtual Result<std::unique_ptr<RunWriter>> BeginRun(const profile::Run& run, const profile::Process& owner) = 0;

  // For a process that watches a run which another one owns: takes its stacks and series, nothing else. At most one
  // writer of a run may be given stacks. kNotFound: no such run. What it could not write is lost without a count.
  virtual Result<std::unique_ptr<RunWriter>> JoinRun(const base::RunId& id) = 0;

  virtual Result<std::vector<RunSummary>> ListRuns(const RunFilter& filter) = 0;
  // `text`: a whole id, a unique beginning or ending of at least 4 characters, "last", "last~N", or "tag:key=value"
  // (the newest such). kNotFound names near candidates; kInvalidArgument when several match.
  virtual Result<base::RunId> Resolve(std::string_view text) = 0;
  // Ids are dense and references point into the record, also when rows were lost: what is missing is filled in as
  // "(not stored)". In a lost run, running nodes and attempts are failed and lost, with its cause.
  virtual Result<profile::RunRecord> Load(const base::RunId& id) = 0;
  virtual Result<std::vector<profile::LogLine>> Logs(const base::RunId& id, const LogFilter& filter) = 0;
  // All series by name, each by time; empty when there are none.
  virtual Result<std::map<std::string, std::vector<profile::SeriesPoint>>> Series(const base::RunId& id) = 0;
  // All recorded stacks, samples by thread and time. kNotFound when none were recorded. Damaged pieces are left out;
  // when nothing is left, kDataLoss.
  virtual Result<profile::StackProfile> Stacks(const base::RunId& id) = 0;
  // Leaves a request for the owner. kFailedPrecondition when the run has ended: nobody would read it.
  virtual Status AddRequest(const base::RunId& id, RequestKind kind, std::string_view detail) = 0;
  // Removes finished runs with all their files; a run that is alive is refused.
  virtual Status Remove(const base::RunId& id) = 0;
  // Bytes on disk of one run: its own file, and its share of runs.db (an estimate by its number of nodes).
  virtual Result<uint64_t> SizeOf(const base::RunId& id) = 0;
};

}  // namespace wf::store

#endif  // WF_STORE_STORE_H_
