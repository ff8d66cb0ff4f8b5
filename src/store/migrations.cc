#include "store/migrations.h"

#include <fmt/format.h>

namespace wf::store {
namespace {

Status ApplyNext(Database& database, const Schema& schema) {
  Result<Transaction> transaction = Transaction::Begin(database, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  // Read again under the lock: another process may have done the step meanwhile.
  const Result<int32_t> version = CheckVersion(database, schema);
  if (!version.ok()) return version.status();
  for (const Migration& step : schema.steps) {
    if (step.number != *version + 1) continue;
    WF_RETURN_IF_ERROR(database.Exec(step.sql).WithContext(fmt::format("schema step {}", step.number)));
    const std::string stamp =
        fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", schema.application_id, step.number);
    WF_RETURN_IF_ERROR(database.Exec(stamp.c_str()));
    break;
  }
  return transaction->Commit();
}

}  // namespace

Result<int32_t> CheckVersion(Database& database, const Schema& schema) {
  // The tables first: another process may make the schema just now, and what it makes is ours all at once.
  const Result<int64_t> tables = database.QueryInt("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  const Result<int64_t> version = database.QueryInt("PRAGMA user_version");
  if (!version.ok()) return version.status();
  const Result<int64_t> application = database.QueryInt("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (*tables > 0 && *application != schema.application_id) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("{} is a database of another program: use another folder (--store)", database.path().string()));
  }
  if (*version > schema.newest()) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} was written by a newer Workflow (schema {}, this one knows up to {}): upgrade with "
                              "`pip install --upgrade workflow-v6`, or use another folder (--store)",
                              database.path().string(), *version, schema.newest()));
  }
  return static_cast<int32_t>(*version);
}

Status Migrate(Database& database, const Schema& schema) {
  while (true) {
    const Result<int32_t> version = CheckVersion(database, schema);
    if (!version.ok()) return version.status();
    if (*version == schema.newest()) return {};
    WF_RETURN_IF_ERROR(ApplyNext(database, schema));
  }
}

}  // namespace wf::store
