// Numbered migrations: how an older database becomes one of today. PRAGMA user_version holds the number of the last
// step that was done; each step runs in a transaction of its own together with the change of that number.
//
// A step that was released is never edited: a change is a new step at the end.
#ifndef WF_STORE_MIGRATIONS_H_
#define WF_STORE_MIGRATIONS_H_

#include <cstdint>
#include <span>

#include "store/sqlite.h"
#include "wf/status.h"

namespace wf::store {

struct Migration {
  int32_t number;  // 1, 2, 3, …
  const char* sql;
};

// What a file is for: its steps, and its PRAGMA application_id, by which it is told from other people's databases.
struct Schema {
  int32_t application_id;
  std::span<const Migration> steps;

  int32_t newest() const { return steps.back().number; }
};

// runs.db, and runs/<id>.db.
const Schema& RunsSchema();
const Schema& RunFileSchema();

// Version of the schema in the file; 0: empty. Errors: kFailedPrecondition when it is newer than `schema` knows, or is
// not a database of ours; the message says what to do.
Result<int32_t> CheckVersion(Database& database, const Schema& schema);

// Brings the database to the newest step. Safe when several processes do it at once.
Status Migrate(Database& database, const Schema& schema);

}  // namespace wf::store

#endif  // WF_STORE_MIGRATIONS_H_
