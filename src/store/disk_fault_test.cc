// Disks that are full, read-only or gone. The run goes on, the loss is counted and told once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <iostream>

#include "profile/stacks_for_test.h"
#include "store/folder.h"
#include "store/test_support.h"

namespace wf::store {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kNotHere = 77;  // exit status: this machine does not let us set up the case

// Runs `body` in a forked child, which may change limits, mounts and users for itself. Its exit status; 0: all went
// well.
int InChild(const std::function<int()>& body) {
  std::cout.flush();
  const pid_t pid = fork();
  if (pid == 0) {
    const int status = body();
    _exit(status != 0 ? status : testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Fills the disk, sees that it is told once, and that the rows wait; then `make_room`, and nothing was lost.
void ExpectRowsWaitForRoom(const std::filesystem::path& folder, const std::function<void()>& fill,
                           const std::function<void()>& make_room) {
  const auto store = OpenStore(folder);
  profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  std::atomic<int> errors{0};
  std::string message;
  writer->SetOnError([&](const Status& status) {
    message = status.message();
    ++errors;
  });
  writer->PutTask(MakeTask(1, "load"));
  ASSERT_TRUE(IsOk(writer->Flush()));
  fill();
  profile::StackRecorder recorder({});
  const uint32_t thread = recorder.AddThread(1, 1, "Main", 0);
  const auto put = [&](uint64_t from, uint64_t to) {
    for (uint64_t id = from; id <= to; ++id) {
      writer->PutNode(MakeNode(id));
      writer->PutAttempt(MakeAttempt(id));
      writer->AddLog({0, static_cast<int64_t>(id), profile::Stream::kLog, 20, "line"});
      const auto time_ns = static_cast<int64_t>(id) * 1'000;
      const uint32_t stack = profile::StackOf(recorder.table(), {"f" + std::to_string(id % 1'000)});
      recorder.Record(thread, {.time_ns = time_ns, .clock_ns = time_ns, .stack = stack});
    }
    writer->PutStacks(recorder.Take(static_cast<int64_t>(to + 1) * 1'000));
  };
  put(1, 20'000);
  const Status full = writer->Flush();
  EXPECT_EQ(full.code(), Code::kIo) << full.message();
  put(20'001, 21'000);
  EXPECT_FALSE(writer->Flush().ok());
  EXPECT_EQ(errors, 1);
  EXPECT_THAT(message, HasSubstr(".db"));
  EXPECT_EQ(writer->LostRows(), 0U);
  make_room();
  ASSERT_TRUE(IsOk(writer->Flush()));
  run.state = base::RunState::kSuccess;
  writer->PutRun(run);
  EXPECT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(writer->LostRows(), 0U);
  const profile::RunRecord record = Loaded(*store, run.id);
  EXPECT_THAT(record.nodes, SizeIs(21'000));
  EXPECT_THAT(record.attempts, SizeIs(21'000));
  EXPECT_THAT(*store->Logs(run.id, {}), SizeIs(21'000));
  const Result<profile::StackProfile> stacks = store->Stacks(run.id);
  ASSERT_TRUE(IsOk(stacks.status()));
  EXPECT_THAT(stacks->samples, SizeIs(21'000));
  EXPECT_EQ(stacks->total_weight_ns(), 21'000'000);
}

void LimitFiles(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(DiskFault, FilesThatMayNotGrowMakeRowsWaitAndTellItOnce) {
  const TempFolder folder;
  EXPECT_EQ(InChild([&] {
              ExpectRowsWaitForRoom(folder / ".wf", [] { LimitFiles(400 << 10); }, [] { LimitFiles(RLIM_INFINITY); });
              return 0;
            }),
            0);
}

// A file system of 2 MiB at `folder`, seen only by this process. False when the system does not allow it.
bool MountSmallDisk(const std::filesystem::path& folder, const char* options) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0;
}

TEST(DiskFault, AFullDiskMakesRowsWaitAndTellsItOnce) {
  const TempFolder folder;
  const int status = InChild([&] {
    if (!MountSmallDisk(folder.path(), "size=2m")) return kNotHere;
    ExpectRowsWaitForRoom(
        folder / ".wf", [] {},
        [&] { EXPECT_EQ(mount("none", folder.path().c_str(), nullptr, MS_REMOUNT, "size=64m"), 0); });
    return 0;
  });
  if (status == kNotHere) GTEST_SKIP() << "needs CAP_SYS_ADMIN to mount a small disk";
  EXPECT_EQ(status, 0);
}

TEST(DiskFault, ARunOnADiskThatStaysFullEndsAndCountsWhatItLost) {
  const TempFolder folder;
  EXPECT_EQ(InChild([&] {
              const auto store = OpenStore(folder / ".wf");
              const auto writer = Begin(*store, MakeRun());
              EXPECT_TRUE(IsOk(writer->Flush()));
              LimitFiles(200 << 10);
              for (uint64_t id = 1; id <= 20'000; ++id) writer->PutNode(MakeNode(id));
              EXPECT_FALSE(writer->Close().ok());
              EXPECT_GE(writer->LostRows(), 20'000U);
              return 0;
            }),
            0);
}

TEST(DiskFault, TheBufferIsBoundedAndLogLinesGoFirst) {
  const TempFolder folder;
  EXPECT_EQ(InChild([&] {
              const auto store = OpenStore(folder / ".wf");
              const auto writer = Begin(*store, MakeRun());
              EXPECT_TRUE(IsOk(writer->Flush()));
              LimitFiles(200 << 10);
              const std::string line(10'000, 'x');
              for (int i = 0; i < 6'000; ++i) writer->AddLog({0, i, profile::Stream::kLog, 20, line});
              const uint64_t lost_lines = writer->LostRows();
              EXPECT_GT(lost_lines, 1'000U);
              for (uint64_t id = 1; id <= 5'000; ++id) writer->PutNode(MakeNode(id));
              EXPECT_EQ(writer->LostRows(), lost_lines);
              return 0;
            }),
            0);
}

TEST(DiskFault, AStoreThatWasDeletedMeanwhileIsAnErrorNotASilentLoss) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const auto writer = Begin(*store, MakeRun());
  ASSERT_TRUE(IsOk(writer->Flush()));
  std::filesystem::remove_all(folder / ".wf");
  writer->PutNode(MakeNode(1));
  writer->AddLog({0, 1, profile::Stream::kLog, 20, "line"});
  const Status status = writer->Flush();
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_THAT(status.message(), HasSubstr("was removed or replaced"));
  EXPECT_FALSE(writer->Close().ok());
  EXPECT_GE(writer->LostRows(), 2U);
  EXPECT_FALSE(std::filesystem::exists(folder / ".wf"));
}

// A store with one finished run, and its folder closed to writers.
base::RunId MakeReadOnlyStore(const std::filesystem::path& folder, bool keep_open, std::unique_ptr<RunWriter>* open) {
  profile::Run run = MakeRun();
  const auto store = OpenStore(folder);
  auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  writer->AddLog({0, 1, profile::Stream::kLog, 20, "line"});
  if (keep_open) {
    EXPECT_TRUE(IsOk(writer->Flush()));
    *open = std::move(writer);
  } else {
    run.state = base::RunState::kSuccess;
    writer->PutRun(run);
    EXPECT_TRUE(IsOk(writer->Close()));
  }
  chmod((folder / "runs").c_str(), 0555);
  chmod(folder.c_str(), 0555);
  return run.id;
}

void OpenAgain(const std::filesystem::path& folder) {
  chmod(folder.c_str(), 0755);
  chmod((folder / "runs").c_str(), 0755);
}

// Root may write everywhere: become somebody else.
bool DropRoot(const std::filesystem::path& top) {
  if (geteuid() != 0) return true;
  chmod(top.c_str(), 0755);
  return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
}

TEST(DiskFault, AReaderWithoutTheRightToWriteReadsAStoreAtRest) {
  const TempFolder folder;
  const base::RunId id = MakeReadOnlyStore(folder / ".wf", false, nullptr);
  EXPECT_EQ(InChild([&] {
              if (!DropRoot(folder.path())) return kNotHere;
              const auto store = OpenStore(folder / ".wf", Access::kRead);
              if (store == nullptr) return 1;
              EXPECT_EQ(Loaded(*store, id).run.state, base::RunState::kSuccess);
              EXPECT_THAT(*store->Logs(id, {}), SizeIs(1));
              const auto refused = Store::Open(folder / ".wf", Access::kReadWrite);
              EXPECT_EQ(refused.status().code(), Code::kPermissionDenied);
              EXPECT_THAT(refused.status().message(), HasSubstr("--store"));
              return 0;
            }),
            0);
  OpenAgain(folder / ".wf");
}

TEST(DiskFault, AReaderWithoutTheRightToWriteReadsALiveStore) {
  const TempFolder folder;
  std::unique_ptr<RunWriter> writer;
  const base::RunId id = MakeReadOnlyStore(folder / ".wf", true, &writer);
  EXPECT_EQ(InChild([&] {
              if (!DropRoot(folder.path())) return kNotHere;
              const auto store = OpenStore(folder / ".wf", Access::kRead);
              if (store == nullptr) return 1;
              EXPECT_EQ(Loaded(*store, id).run.state, base::RunState::kRunning);
              EXPECT_THAT(Loaded(*store, id).nodes, SizeIs(1));
              return 0;
            }),
            0);
  OpenAgain(folder / ".wf");
}

TEST(DiskFault, AStoreThatCannotBeMadeSaysWhereElseItCouldBe) {
  const auto store = Store::Open("/proc/nowhere/.wf", Access::kReadWrite);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.status().message(), HasSubstr("/proc/nowhere/.wf"));
  EXPECT_THAT(store.status().message(), HasSubstr("--store"));
}

}  // namespace
}  // namespace wf::store
