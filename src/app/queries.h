// One typed call per verb that reads the store: opens it, loads, judges, and hands over what `report` shows.
//
// `store` is --store as given, empty for the default place (store::Locate). `run` is what people type for a run: a
// whole id, a unique beginning or ending, last, last~N, tag:key=value. Errors are those of store::Store: kNotFound for
// a store or run that is not there, kInvalidArgument for an ambiguous one.
#ifndef WF_APP_QUERIES_H_
#define WF_APP_QUERIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profile/run_record.h"
#include "report/clean.h"
#include "report/diff.h"
#include "report/doctor.h"
#include "report/logs.h"
#include "report/run_report.h"
#include "report/runs.h"
#include "wf/status.h"

namespace wf::app {

struct ListRunsRequest {
  std::string store;
  std::string workflow;       // empty: all
  std::string state;          // "failed"; empty: all
  int64_t newer_than_ns = 0;  // only runs begun within this time; 0: all
  size_t limit = 0;           // 0: all
};

struct RunList {
  std::vector<report::RunLine> runs;  // newest first
  std::string folder;
};

Result<RunList> ListRuns(const ListRunsRequest& request);

// For `show` and `graph`.
Result<profile::RunRecord> LoadRun(const std::string& store, const std::string& run);

Result<report::RunReport> Report(const std::string& store, const std::string& run);
// Of a record that is at hand already. What is absent gets its reason when the run was made on this machine.
report::RunReport ReportOn(const profile::RunRecord& record);

Result<report::RunDiff> Diff(const std::string& store, const std::string& before, const std::string& after);

struct LogsRequest {
  std::string store;
  std::string run;
  std::string task;    // empty: all
  uint64_t node = 0;   // 0: all
  std::string stream;  // "stdout", "stderr", "log"; empty: all
};

Result<report::RunLogs> Logs(const LogsRequest& request);

struct CleanRequest {
  std::string store;
  int64_t older_than_ns = 0;  // 0: no limit
  int64_t max_bytes = -1;     // of the files of all runs together; -1: no limit
  int64_t keep = -1;          // so many of the newest are never removed; -1: not given. Alone: all others are.
  bool dry_run = false;
};

// Removes finished and lost runs; a run that is alive is kept whatever the limits say. A run that cannot be removed is
// reported in its line and does not stop the others.
Result<report::Cleaning> Clean(const CleanRequest& request);

struct DoctorRequest {
  std::string store;
  std::string program;  // argv[0], to find the Python that `wf run` would take
  std::string python;   // --python
};

// Never fails: what is wrong is in the result.
report::Doctor ExamineMachine(const DoctorRequest& request);

}  // namespace wf::app

#endif  // WF_APP_QUERIES_H_
