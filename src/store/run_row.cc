// The run's own row with its tags and params.
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/redact.h"
#include "store/rows.h"

namespace wf::store {
namespace {

std::string ArgvToJson(const std::vector<std::string>& argv) {
  // Arguments may be any bytes; what is not UTF-8 becomes U+FFFD.
  return nlohmann::json(base::RedactArgv(argv)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> ArgvFromJson(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::string> argv;
  if (!json.is_array()) return argv;
  for (const nlohmann::json& argument : json) {
    if (argument.is_string()) argv.push_back(argument.get<std::string>());
  }
  return argv;
}

Status PutNamed(Database& database, std::string_view sql, int64_t run_no,
                const std::map<std::string, std::string>& values, bool are_params) {
  if (values.empty()) return {};
  Result<Statement> put = database.Prepare(sql);
  if (!put.ok()) return put.status();
  for (const auto& [name, value] : values) {
    const std::string safe = are_params                 ? base::RedactParam(name, value)
                             : base::IsSecretName(name) ? "***"
                                                        : base::RedactText(value);
    put->Bind(1, run_no).Bind(2, name).Bind(3, safe);
    WF_RETURN_IF_ERROR(put->Run());
  }
  return {};
}

Status PutTagsAndParams(Database& database, int64_t run_no, const profile::Run& run) {
  WF_RETURN_IF_ERROR(PutNamed(database, "INSERT OR REPLACE INTO tags VALUES(?,?,?)", run_no, run.tags, false));
  return PutNamed(database, "INSERT OR REPLACE INTO params VALUES(?,?,?)", run_no, run.params, true);
}

// Parameters 1 to 16: what InsertRun and UpdateRun share.
void BindRun(Statement& put, const profile::Run& run, std::string_view argv_json, std::string_view cause) {
  put.BindBlob(1, BlobOf(run.id)).Bind(2, static_cast<int64_t>(run.kind)).Bind(3, run.workflow).Bind(4, run.file);
  put.Bind(5, argv_json).Bind(6, run.commit).Bind(7, run.executor).Bind(8, run.workers).Bind(9, run.mode);
  put.Bind(10, run.usable_cpus_milli).Bind(11, run.python).Bind(12, static_cast<int64_t>(run.state)).Bind(13, cause);
  put.Bind(14, run.start_wall_ns).Bind(15, run.start_ns).Bind(16, run.end_ns);
}

}  // namespace

RunRow ReadRunRow(const Statement& row) {
  RunRow out;
  profile::Run& run = out.run;
  out.run_no = row.Int(0);
  run.id = RunIdOf(row.Blob(1));
  run.kind = row.Int(2) >= 0 && row.Int(2) <= 2 ? static_cast<profile::RunKind>(row.Int(2)) : profile::RunKind::kRun;
  run.workflow = row.Text(3);
  run.file = row.Text(4);
  run.argv = ArgvFromJson(row.Text(5));
  run.commit = row.Text(6);
  run.executor = row.Text(7);
  run.workers = static_cast<int32_t>(row.Int(8));
  run.mode = row.Text(9);
  run.usable_cpus_milli = static_cast<int32_t>(row.Int(10));
  run.python = row.Text(11);
  run.state = row.Int(12) >= 0 && row.Int(12) <= 4 ? static_cast<base::RunState>(row.Int(12)) : base::RunState::kLost;
  run.cause = row.Text(13);
  run.start_wall_ns = row.Int(14);
  run.start_ns = row.Int(15);
  run.end_ns = row.Int(16);
  out.owner.host = row.Text(17);
  out.owner.boot_id = row.Text(18);
  out.owner.pid_namespace = static_cast<uint64_t>(row.Int(19));
  out.owner.pid = static_cast<int32_t>(row.Int(20));
  out.owner.start_ticks = row.Int(21);
  out.heartbeat_wall_ns = row.Int(22);
  out.heartbeat_ns = row.Int(23);
  out.closed = row.Int(24) != 0;
  out.node_count = static_cast<uint64_t>(row.Int(25));
  out.failed_nodes = static_cast<uint64_t>(row.Int(26));
  out.lost_rows = static_cast<uint64_t>(row.Int(27));
  return out;
}

Result<int64_t> InsertRun(Database& database, const profile::Run& run, const base::ProcessId& owner) {
  Result<Transaction> transaction = Transaction::Begin(database, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  Result<Statement> put = database.Prepare(
      "INSERT INTO runs(id, kind, workflow, file, argv, commit_id, executor, workers, mode, usable_cpus_milli, python, "
      "state, "
      "cause, start_wall_ns, start_ns, end_ns, owner_host, owner_boot_id, owner_pid_namespace, owner_pid, "
      "owner_start_ticks, "
      "heartbeat_wall_ns, heartbeat_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!put.ok()) return put.status();
  const std::string argv = ArgvToJson(run.argv);
  const std::string cause = base::RedactText(run.cause);
  BindRun(*put, run, argv, cause);
  put->Bind(17, owner.host)
      .Bind(18, owner.boot_id)
      .Bind(19, static_cast<int64_t>(owner.pid_namespace))
      .Bind(20, owner.pid);
  put->Bind(21, owner.start_ticks).Bind(22, base::WallNs()).Bind(23, base::MonotonicNs());
  WF_RETURN_IF_ERROR(put->Run());
  const int64_t run_no = database.LastInsertId();
  WF_RETURN_IF_ERROR(PutTagsAndParams(database, run_no, run));
  WF_RETURN_IF_ERROR(transaction->Commit());
  return run_no;
}

Status UpdateRun(Database& database, int64_t run_no, const profile::Run& run) {
  Result<Statement> put = database.Prepare(
      "UPDATE runs SET id=?1, kind=?2, workflow=?3, file=?4, argv=?5, commit_id=?6, executor=?7, workers=?8, mode=?9, "
      "usable_cpus_milli=?10, python=?11, state=?12, cause=?13, start_wall_ns=?14, start_ns=?15, end_ns=?16 WHERE "
      "run_no=?17");
  if (!put.ok()) return put.status();
  const std::string argv = ArgvToJson(run.argv);
  const std::string cause = base::RedactText(run.cause);
  BindRun(*put, run, argv, cause);
  put->Bind(17, run_no);
  WF_RETURN_IF_ERROR(put->Run());
  return PutTagsAndParams(database, run_no, run);
}

}  // namespace wf::store
