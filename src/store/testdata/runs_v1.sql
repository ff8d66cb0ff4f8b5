-- A runs.db of schema 1 with one run, as text. Made by applying step 1 of runs_schema.cc (as first released), inserting the
-- rows below, and `sqlite3 runs.db .dump`; the two PRAGMA lines are what the migration stamps. Never edit: it stands for the
-- stores that users have.
PRAGMA application_id=1464226386;
PRAGMA user_version=1;
BEGIN TRANSACTION;
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
INSERT INTO "attempts" VALUES(1,1,1,1,1100,1900,1,0,1,4243,0,1000,NULL,NULL,700,1,1048576,3,NULL,0,NULL,0,NULL,0,NULL,0,NULL,0,NULL,0,NULL,0,NULL,0,NULL,0);
CREATE TABLE devices(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, process INTEGER NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL,
  uuid TEXT NOT NULL, name TEXT NOT NULL, memory_bytes INTEGER,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE edges(
  run_no INTEGER NOT NULL, to_node INTEGER NOT NULL, from_node INTEGER NOT NULL, kind INTEGER NOT NULL,
  bytes INTEGER, bytes_quality INTEGER NOT NULL,
  PRIMARY KEY(run_no, to_node, from_node, kind)) STRICT, WITHOUT ROWID;
INSERT INTO "edges" VALUES(1,2,1,0,4096,1);
CREATE TABLE findings(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, rule TEXT NOT NULL, task INTEGER NOT NULL, node INTEGER NOT NULL,
  figures TEXT NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
CREATE TABLE nodes(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, map_index INTEGER NOT NULL, parent INTEGER NOT NULL,
  state INTEGER NOT NULL, ready_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, cause_node INTEGER NOT NULL, cause TEXT,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
INSERT INTO "nodes" VALUES(1,1,1,-1,0,3,1000,2000,0,NULL);
INSERT INTO "nodes" VALUES(1,2,2,0,0,4,2000,4000,0,'ValueError: no');
INSERT INTO "nodes" VALUES(1,3,2,1,0,3,2000,4500,0,NULL);
CREATE TABLE params(
  run_no INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(run_no, name)) STRICT, WITHOUT ROWID;
INSERT INTO "params" VALUES(1,'epochs','3');
CREATE TABLE processes(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL,
  boot_id TEXT NOT NULL, rank INTEGER NOT NULL, anchor_monotonic_ns INTEGER NOT NULL, anchor_wall_ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
INSERT INTO "processes" VALUES(1,1,'host',4242,777,'00000000-0000-0000-0000-000000000001',-1,1000,1764600000000000000,'owner');
CREATE TABLE requests(
  id INTEGER PRIMARY KEY AUTOINCREMENT, run_no INTEGER NOT NULL, kind INTEGER NOT NULL, detail TEXT NOT NULL,
  created_wall_ns INTEGER NOT NULL, taken_wall_ns INTEGER) STRICT;
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
INSERT INTO "runs" VALUES(1,X'0193A1B2C3D400010203040506070809',0,'training','pipeline.py','["wf","run","pipeline.py"]','abc','threads',2,'always',2000,'3.11.2',2,'task train failed',1764600000000000000,1000,5000,'host','00000000-0000-0000-0000-000000000001',4026531836,4242,777,1764600000000004000,5000,1);
CREATE TABLE streams(
  run_no INTEGER NOT NULL, device INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY(run_no, device, id)) STRICT, WITHOUT ROWID;
CREATE TABLE tags(
  run_no INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(run_no, name)) STRICT, WITHOUT ROWID;
INSERT INTO "tags" VALUES(1,'branch','main');
CREATE TABLE tasks(
  run_no INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, qualname TEXT NOT NULL, file TEXT NOT NULL,
  line INTEGER NOT NULL, kind TEXT NOT NULL,
  PRIMARY KEY(run_no, id)) STRICT, WITHOUT ROWID;
INSERT INTO "tasks" VALUES(1,1,'load','pipeline.load','pipeline.py',3,'function');
INSERT INTO "tasks" VALUES(1,2,'train','pipeline.train','pipeline.py',9,'function');
CREATE TABLE threads(
  run_no INTEGER NOT NULL, process INTEGER NOT NULL, tid INTEGER NOT NULL, first_ns INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY(run_no, process, tid, first_ns)) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_value ON tags(name, value);
CREATE INDEX requests_by_run ON requests(run_no, id);
COMMIT;
