// The schema of runs/<id>.db: what is large. Columns and the bytes of a chunk: docs/formats/store.md.
#include <array>

#include "store/migrations.h"

namespace wf::store {
namespace {

constexpr const char* kStep1 = R"sql(
CREATE TABLE logs(
  id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, time_ns INTEGER NOT NULL, stream INTEGER NOT NULL,
  level INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE strings(
  id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE frames(
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name INTEGER NOT NULL, file INTEGER NOT NULL, first_line INTEGER NOT NULL,
  line INTEGER NOT NULL, build_id INTEGER NOT NULL, address INTEGER NOT NULL) STRICT;
CREATE TABLE stacks(
  id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, frame INTEGER NOT NULL, UNIQUE(parent, frame)) STRICT;
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, process INTEGER NOT NULL, first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
  row_count INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
CREATE INDEX chunks_by_key ON chunks(kind, process, first_ns);
)sql";

// Stacks get their writer: frames and tree are large, so they are chunks too; the tables for them were never filled.
constexpr const char* kStep2 = R"sql(
DROP TABLE frames;
DROP TABLE stacks;
CREATE TABLE stack_texts(
  id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE stack_threads(
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, tid INTEGER NOT NULL, first_ns INTEGER NOT NULL,
  last_ns INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
CREATE TABLE stack_meta(
  id INTEGER PRIMARY KEY CHECK(id = 1), meta TEXT NOT NULL) STRICT;
)sql";

constexpr std::array kSteps{Migration{1, kStep1}, Migration{2, kStep2}};

}  // namespace

const Schema& RunFileSchema() {
  static constexpr Schema kSchema{0x57464644, kSteps};  // "WFFD"
  return kSchema;
}

}  // namespace wf::store
