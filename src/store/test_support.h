// What the tests of this room share: a folder that goes away, and values that are easy to make and to compare.
#ifndef WF_STORE_TEST_SUPPORT_H_
#define WF_STORE_TEST_SUPPORT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/process_id.h"
#include "store/store.h"

namespace wf::store {

// A new empty folder, removed with all it holds at the end of the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wf-store-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline profile::Run MakeRun(const std::string& workflow = "training") {
  profile::Run run;
  run.id = base::RunId::Make();
  run.workflow = workflow;
  run.file = "pipeline.py";
  run.argv = {"wf", "run", "pipeline.py"};
  run.executor = "threads";
  run.workers = 2;
  run.mode = "always";
  run.start_wall_ns = base::WallNs();
  run.start_ns = base::MonotonicNs();
  return run;
}

inline profile::Process MakeOwner() {
  const base::ProcessId self = base::ProcessId::Self();
  profile::Process owner;
  owner.id = 1;
  owner.host = self.host;
  owner.pid = self.pid;
  owner.start_ticks = self.start_ticks;
  owner.boot_id = self.boot_id;
  owner.anchor_monotonic_ns = base::MonotonicNs();
  owner.anchor_wall_ns = base::WallNs();
  owner.name = "owner";
  return owner;
}

inline profile::Task MakeTask(uint32_t id, const std::string& name) {
  return {id, name, "pipeline." + name, "pipeline.py", 10, "function"};
}

inline profile::Node MakeNode(uint64_t id, base::NodeState state = base::NodeState::kSuccess) {
  profile::Node node;
  node.id = id;
  node.task = 1;
  node.state = state;
  node.ready_ns = static_cast<int64_t>(id) * 10;
  return node;
}

inline profile::Attempt MakeAttempt(uint64_t id, base::AttemptState state = base::AttemptState::kSuccess) {
  profile::Attempt attempt;
  attempt.id = id;
  attempt.node = id;
  attempt.start_ns = static_cast<int64_t>(id) * 100;
  attempt.end_ns = attempt.start_ns + 50;
  attempt.state = state;
  attempt.process = 1;
  attempt.usage.cpu_ns = profile::Figure::Measured(static_cast<int64_t>(id));
  return attempt;
}

// Opens for reading and writing; fails the test and returns null on error.
inline std::unique_ptr<Store> OpenStore(const std::filesystem::path& folder, Access access = Access::kReadWrite) {
  Result<std::unique_ptr<Store>> store = Store::Open(folder, access);
  EXPECT_TRUE(store.ok()) << store.status().message();
  return store.ok() ? *std::move(store) : nullptr;
}

inline std::unique_ptr<RunWriter> Begin(Store& store, const profile::Run& run) {
  Result<std::unique_ptr<RunWriter>> writer = store.BeginRun(run, MakeOwner());
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  return writer.ok() ? *std::move(writer) : nullptr;
}

inline profile::RunRecord Loaded(Store& store, const base::RunId& id) {
  Result<profile::RunRecord> record = store.Load(id);
  EXPECT_TRUE(record.ok()) << record.status().message();
  return record.ok() ? *std::move(record) : profile::RunRecord();
}

// EXPECT_TRUE(IsOk(status))
inline testing::AssertionResult IsOk(const Status& status) {
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << CodeName(status.code()) << ": " << status.message();
}

}  // namespace wf::store

#endif  // WF_STORE_TEST_SUPPORT_H_
