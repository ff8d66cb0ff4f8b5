// RunsDbWriter: writes the batches of one run into runs.db, each in one transaction.
//
// Threading: one thread at a time. Failure: a batch that could not be written left nothing behind; writing it again
// later is right, since every row replaces its older self.
#ifndef WF_STORE_RUNS_DB_WRITER_H_
#define WF_STORE_RUNS_DB_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "store/batch.h"
#include "store/run_writer.h"
#include "store/sqlite.h"

namespace wf::store {

class RunsDbWriter {
 public:
  // `database` holds the row of run `run_no`.
  static Result<RunsDbWriter> Make(Database database, int64_t run_no);

  // Writes everything of `batch` but logs and series, and a sign of life. Appends what others asked of this run since
  // the last call to `requests`.
  Status Write(Batch& batch, uint64_t lost_rows, std::vector<Request>* requests);
  // Says that nobody will write to this run any more, whatever its state.
  Status MarkClosed();

  // Whether the file that was opened still lies at its path.
  Status CheckInPlace() const;

 private:
  RunsDbWriter(Database database, int64_t run_no) : database_(std::move(database)), run_no_(run_no) {}
  Status Prepare();
  Status WriteRows(const Batch& batch);
  Status WriteRunRow(const Batch& batch, uint64_t lost_rows);
  Status TakeRequests(std::vector<Request>* requests);
  void Tally(const RowList<profile::Node>& nodes);

  Database database_;  // before the statements: they end first
  int64_t run_no_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  Statement put_process_, put_task_, put_node_, put_edge_, put_attempt_;
  Statement beat_, find_requests_, take_requests_;
  // Last state of each node by its id, for the totals beside the run; kUnseen where none was put.
  std::vector<uint8_t> node_states_;
  uint64_t node_count_ = 0;
  uint64_t failed_nodes_ = 0;
  int64_t last_request_ = 0;
};

}  // namespace wf::store

#endif  // WF_STORE_RUNS_DB_WRITER_H_
