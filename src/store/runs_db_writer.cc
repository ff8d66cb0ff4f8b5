#include "store/runs_db_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/redact.h"
#include "store/rows.h"

namespace wf::store {
namespace {

constexpr uint8_t kUnseen = 0xFF;
constexpr uint64_t kMostTalliedNodes = uint64_t{1} << 26;  // ids are dense from 1; a wild one must not cost memory

template <typename T>
Status PutLast(Statement& put, const RowList<T>& rows, void (*bind)(Statement&, const T&)) {
  for (const size_t i : LastOfEach(rows)) {
    bind(put, rows[i]);
    WF_RETURN_IF_ERROR(put.Run());
  }
  return {};
}

// The user's exceptions quote what they were given.
void RedactCauses(Batch& batch) {
  for (size_t i = 0; i < batch.attempts.size(); ++i) {
    profile::Attempt& attempt = batch.attempts[i];
    if (!attempt.cause.empty()) attempt.cause = base::RedactText(attempt.cause);
    if (!attempt.traceback.empty()) attempt.traceback = base::RedactText(attempt.traceback);
  }
  for (size_t i = 0; i < batch.nodes.size(); ++i) {
    profile::Node& node = batch.nodes[i];
    if (!node.cause.empty()) node.cause = base::RedactText(node.cause);
  }
}

}  // namespace

Result<RunsDbWriter> RunsDbWriter::Make(Database database, int64_t run_no) {
  RunsDbWriter writer(std::move(database), run_no);
  WF_RETURN_IF_ERROR(writer.Prepare());
  struct stat info{};
  if (stat(writer.database_.path().c_str(), &info) == 0) {
    writer.device_ = info.st_dev;
    writer.inode_ = info.st_ino;
  }
  return writer;
}

Status RunsDbWriter::Prepare() {
  const std::pair<Statement*, std::string_view> wanted[] = {
      {&put_process_, kPutProcess},
      {&put_task_, kPutTask},
      {&put_node_, kPutNode},
      {&put_edge_, kPutEdge},
      {&put_attempt_, kPutAttempt},
      {&beat_,
       "UPDATE runs SET heartbeat_wall_ns=?2, heartbeat_ns=?3, node_count=?4, failed_nodes=?5, lost_rows=?6 WHERE "
       "run_no=?1"},
      {&find_requests_, "SELECT id, kind, detail FROM requests WHERE run_no=?1 AND id>?2 ORDER BY id"},
      {&take_requests_, "UPDATE requests SET taken_wall_ns=?3 WHERE run_no=?1 AND id>?2"},
  };
  for (const auto& [statement, sql] : wanted) {
    Result<Statement> prepared = database_.Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    *statement = *std::move(prepared);
    statement->Bind(1, run_no_);  // stays bound
  }
  return {};
}

Status RunsDbWriter::CheckInPlace() const {
  struct stat info{};
  const bool is_there = stat(database_.path().c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  if (is_there) return {};
  // Writes to an unlinked file succeed and are gone: to go on silently would be a lie.
  return {Code::kIo,
          fmt::format("{} was removed or replaced while this run was writing to it; start the run again to store it",
                      database_.path().string())};
}

void RunsDbWriter::Tally(const RowList<profile::Node>& nodes) {
  constexpr auto kFailed = static_cast<uint8_t>(base::NodeState::kFailed);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const profile::Node& node = nodes[i];
    if (node.id >= kMostTalliedNodes) continue;
    if (node.id >= node_states_.size())
      node_states_.resize(std::max<size_t>(node.id + 1, node_states_.size() * 2), kUnseen);
    uint8_t& known = node_states_[node.id];
    if (known == kUnseen) ++node_count_;
    if (known == kFailed) --failed_nodes_;
    known = static_cast<uint8_t>(node.state);
    if (known == kFailed) ++failed_nodes_;
  }
}

Status RunsDbWriter::WriteRows(const Batch& batch) {
  WF_RETURN_IF_ERROR(PutLast(put_process_, batch.processes, &BindProcess));
  WF_RETURN_IF_ERROR(PutLast(put_task_, batch.tasks, &BindTask));
  WF_RETURN_IF_ERROR(PutLast(put_node_, batch.nodes, &BindNode));
  for (size_t i = 0; i < batch.edges.size(); ++i) {
    BindEdge(put_edge_, batch.edges[i]);
    WF_RETURN_IF_ERROR(put_edge_.Run());
  }
  return PutLast(put_attempt_, batch.attempts, &BindAttempt);
}

Status RunsDbWriter::WriteRunRow(const Batch& batch, uint64_t lost_rows) {
  if (batch.run) WF_RETURN_IF_ERROR(UpdateRun(database_, run_no_, *batch.run));
  beat_.Bind(2, base::WallNs()).Bind(3, base::MonotonicNs());
  beat_.Bind(4, static_cast<int64_t>(node_count_)).Bind(5, static_cast<int64_t>(failed_nodes_));
  return beat_.Bind(6, static_cast<int64_t>(lost_rows)).Run();
}

Status RunsDbWriter::TakeRequests(std::vector<Request>* requests) {
  find_requests_.Bind(2, last_request_);
  while (true) {
    const Result<bool> row = find_requests_.Step();
    if (!row.ok()) return row.status();
    if (!*row) break;
    requests->push_back(
        {find_requests_.Int(0), static_cast<uint8_t>(find_requests_.Int(1)), std::string(find_requests_.Text(2))});
  }
  if (requests->empty()) return {};
  return take_requests_.Bind(2, last_request_).Bind(3, base::WallNs()).Run();
}

Status RunsDbWriter::Write(Batch& batch, uint64_t lost_rows, std::vector<Request>* requests) {
  WF_RETURN_IF_ERROR(CheckInPlace());
  RedactCauses(batch);
  Tally(batch.nodes);
  Result<Transaction> transaction = Transaction::Begin(database_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  std::vector<Request> taken;
  WF_RETURN_IF_ERROR(WriteRows(batch));
  WF_RETURN_IF_ERROR(WriteRunRow(batch, lost_rows));
  WF_RETURN_IF_ERROR(TakeRequests(&taken));
  WF_RETURN_IF_ERROR(transaction->Commit());
  if (!taken.empty()) last_request_ = taken.back().id;
  requests->insert(requests->end(), taken.begin(), taken.end());
  return {};
}

Status RunsDbWriter::MarkClosed() {
  Result<Statement> mark = database_.Prepare("UPDATE runs SET closed=1 WHERE run_no=?1");
  if (!mark.ok()) return mark.status();
  return mark->Bind(1, run_no_).Run();
}

}  // namespace wf::store
