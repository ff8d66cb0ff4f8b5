// The schema of runs.db. What each column means, with units: docs/formats/store.md.
#include <array>

#include "store/migrations.h"

namespace wf::store {
namespace {

// Tables of a run are keyed by its small number, not its 16-byte id, and hold their rows in the key's own tree.
constexpr const char* kStep1 = R"sql(
CREATE TABLE runs(
  run_no INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK(length(id) = 16),
  kind INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  file TEXT NOT NULL,
  argv TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  executor TEXT NOT NULL,
  workers INTEGER NOT NULL,
  mode TEXT NOT NULL,
  usable_cpus_milli INTEGER NOT NULL,
  python TEXT NOT NULL,
  state INTEGER NOT NULL,
  cause TEXT NOT NULL,
  start_wall_ns INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  owner_host TEXT NOT NULL,
  owner_boot_id TEXT NOT NULL,
  owner_pid_namespace INTEGER NOT NULL,
  owner_pid INTEGER NOT NULL,
  owner_start_ticks INTEGER NOT NULL,
  heartbeat_wall_ns INTEGER NOT NULL,
  heartbeat_ns INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE tags(
  run_no INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(run_no, name)) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_value ON tags(name, value);
CREATE TABLE params(
  run_no INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(run_no, name)) STRICT, WITHOUT ROWID;
CREATE TABLE processes(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL,
  boot_id TEXT NOT NULL, rank INTEGER NOT NULL, anchor_monotonic_ns INTEGER NOT NULL, anchor_wall_ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE threads(
  run_no INTEGER NOT NULL, process INTEGER NOT NULL, tid INTEGER NOT NULL, first_ns INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY(run_no, process, tid, first_ns)) STRICT, WITHOUT ROWID;
CREATE TABLE devices(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, process INTEGER NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL,
  uuid TEXT NOT NULL, name TEXT NOT NULL, memory_bytes INTEGER,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE streams(
  run_no INTEGER NOT NULL, device INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY(run_no, device, id)) STRICT, WITHOUT ROWID;
CREATE TABLE tasks(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, qualname TEXT NOT NULL, file TEXT NOT NULL,
  line INTEGER NOT NULL, kind TEXT NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE nodes(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, map_index INTEGER NOT NULL, parent INTEGER NOT NULL,
  state INTEGER NOT NULL, ready_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, cause_node INTEGER NOT NULL, cause TEXT,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE edges(
  run_no INTEGER NOT NULL, to_node INTEGER NOT NULL, from_node INTEGER NOT NULL, kind INTEGER NOT NULL,
  bytes INTEGER, bytes_quality INTEGER NOT NULL,
  PRIMARY KEY(run_no, to_node, from_node, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE attempts(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, node INTEGER NOT NULL, number INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, state INTEGER NOT NULL, worker INTEGER NOT NULL,
  process INTEGER NOT NULL, tid INTEGER NOT NULL, sampled INTEGER NOT NULL, cpus_allocated_milli INTEGER NOT NULL,
  cause TEXT, traceback TEXT,
  cpu_ns INTEGER, cpu_ns_quality INTEGER NOT NULL,
  memory_peak_bytes INTEGER, memory_peak_bytes_quality INTEGER NOT NULL,
  read_bytes INTEGER, read_bytes_quality INTEGER NOT NULL,
  write_bytes INTEGER, write_bytes_quality INTEGER NOT NULL,
  device_read_bytes INTEGER, device_read_bytes_quality INTEGER NOT NULL,
  device_write_bytes INTEGER, device_write_bytes_quality INTEGER NOT NULL,
  net_received_bytes INTEGER, net_received_bytes_quality INTEGER NOT NULL,
  net_sent_bytes INTEGER, net_sent_bytes_quality INTEGER NOT NULL,
  gpu_memory_bytes INTEGER, gpu_memory_bytes_quality INTEGER NOT NULL,
  gpu_busy_ns INTEGER, gpu_busy_ns_quality INTEGER NOT NULL,
  energy_uj INTEGER, energy_uj_quality INTEGER NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE findings(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, rule TEXT NOT NULL, task INTEGER NOT NULL, node INTEGER NOT NULL,
  figures TEXT NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE requests(
  id INTEGER PRIMARY KEY AUTOINCREMENT, run_no INTEGER NOT NULL, kind INTEGER NOT NULL, detail TEXT NOT NULL,
  created_wall_ns INTEGER NOT NULL, taken_wall_ns INTEGER) STRICT;
CREATE INDEX requests_by_run ON requests(run_no, id);
)sql";

// Totals beside the run, so that a list of runs need not count their nodes.
constexpr const char* kStep2 = R"sql(
ALTER TABLE runs ADD COLUMN node_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN failed_nodes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN lost_rows INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET node_count = (SELECT count(*) FROM nodes WHERE nodes.run_no = runs.run_no),
                failed_nodes = (SELECT count(*) FROM nodes WHERE nodes.run_no = runs.run_no AND state = 4);
)sql";

// One more figure of an attempt. (A change of the model is a step here, never an edit of one above.)
constexpr const char* kStep3 = R"sql(
ALTER TABLE attempts ADD COLUMN cpu_wait_ns INTEGER;
ALTER TABLE attempts ADD COLUMN cpu_wait_ns_quality INTEGER NOT NULL DEFAULT 0;
)sql";

// Recordings know attempts of other runs.
constexpr const char* kStep4 = R"sql(
ALTER TABLE attempts ADD COLUMN of_run BLOB;
ALTER TABLE attempts ADD COLUMN of_node INTEGER;
ALTER TABLE attempts ADD COLUMN of_attempt INTEGER;
)sql";

constexpr std::array kSteps{Migration{1, kStep1}, Migration{2, kStep2}, Migration{3, kStep3}, Migration{4, kStep4}};

}  // namespace

const Schema& RunsSchema() {
  static constexpr Schema kSchema{0x57465252, kSteps};  // "WFRR"
  return kSchema;
}

}  // namespace wf::store
