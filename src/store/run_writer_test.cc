#include "store/run_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "store/folder.h"
#include "store/sqlite.h"
#include "store/test_support.h"

namespace wf::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Waits for something that another thread or process brings about; generous, since machines are slow at times.
template <typename Condition>
bool Eventually(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(RunWriter, WhatWasPutIsReadableByAnotherStoreWithoutAFlush) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  const auto reader = OpenStore(folder / ".wf", Access::kRead);
  EXPECT_TRUE(Eventually([&] { return Loaded(*reader, run.id).nodes.size() == 1; }));
  EXPECT_EQ(Loaded(*reader, run.id).run.state, base::RunState::kRunning);
}

TEST(RunWriter, OfRowsPutTwiceTheLastFormIsStored) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  for (const auto state : {base::NodeState::kFailed, base::NodeState::kRunning, base::NodeState::kSuccess}) {
    writer->PutNode(MakeNode(2, state));
    writer->PutNode(MakeNode(1, base::NodeState::kFailed));
  }
  writer->PutAttempt(MakeAttempt(1, base::AttemptState::kRunning));
  ASSERT_TRUE(IsOk(writer->Flush()));
  writer->PutAttempt(MakeAttempt(1, base::AttemptState::kError));
  ASSERT_TRUE(IsOk(writer->Flush()));
  const profile::RunRecord record = Loaded(*store, run.id);
  ASSERT_THAT(record.nodes, SizeIs(2));
  EXPECT_EQ(record.nodes[1].state, base::NodeState::kSuccess);
  EXPECT_EQ(record.nodes[0].state, base::NodeState::kFailed);
  EXPECT_EQ(record.attempts.at(0).state, base::AttemptState::kError);
  const auto runs = store->ListRuns({});
  EXPECT_EQ(runs->at(0).nodes, 2U);
  EXPECT_EQ(runs->at(0).failed_nodes, 1U);
}

TEST(RunWriter, AHundredThousandNodesComeBackWholeInAFileThatGrowsWithThem) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  constexpr uint64_t kNodes = 100'000;
  uintmax_t tenth = 0;
  for (uint64_t id = 1; id <= kNodes; ++id) {
    writer->PutNode(MakeNode(id));
    writer->PutAttempt(MakeAttempt(id));
    if (id != kNodes / 10) continue;
    ASSERT_TRUE(IsOk(writer->Flush()));
    tenth =
        std::filesystem::file_size(RunsDbPath(folder / ".wf")) + std::filesystem::file_size(folder / ".wf/runs.db-wal");
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(writer->LostRows(), 0U);
  const profile::RunRecord record = Loaded(*store, run.id);
  ASSERT_THAT(record.nodes, SizeIs(kNodes));
  ASSERT_THAT(record.attempts, SizeIs(kNodes));
  EXPECT_EQ(record.attempts.back().usage.cpu_ns.value, static_cast<int64_t>(kNodes));
  EXPECT_LT(std::filesystem::file_size(RunsDbPath(folder / ".wf")), 15 * tenth);
}

TEST(RunWriter, ThreadsMayPutAtOnce) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&writer, thread] {
      for (uint64_t i = 0; i < 1'000; ++i) {
        writer->PutNode(MakeNode(thread * 1'000 + i + 1));
        writer->AddLog({0, static_cast<int64_t>(i), profile::Stream::kLog, 20, "line"});
        writer->PutSeries("rss", {1, 0, static_cast<int64_t>(i), 1.0});
        if (i % 300 == 0) {
          EXPECT_TRUE(IsOk(writer->Flush()));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_THAT(Loaded(*store, run.id).nodes, SizeIs(4'000));
  EXPECT_THAT(*store->Logs(run.id, {}), SizeIs(4'000));
  EXPECT_THAT(store->Series(run.id)->at("rss"), SizeIs(4'000));
}

TEST(RunWriter, SeriesComeBackByNameAndTimeAlsoOverManyChunks) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  EXPECT_TRUE(store->Series(run.id)->empty());
  for (int64_t i = 0; i < 10'000; ++i) {
    writer->PutSeries("rss", {1, 7, i * 1000, static_cast<double>(i)});
    if (i % 10 == 0) writer->PutSeries("cpu", {2, 0, i * 1000, 0.5});
    if (i % 1'999 == 0) {
      ASSERT_TRUE(IsOk(writer->Flush()));
    }
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  const auto series = store->Series(run.id);
  ASSERT_TRUE(IsOk(series.status()));
  ASSERT_THAT(series->at("rss"), SizeIs(10'000));
  EXPECT_THAT(series->at("cpu"), SizeIs(1'000));
  for (int64_t i = 0; i < 10'000; ++i) {
    const profile::SeriesPoint& point = series->at("rss")[static_cast<size_t>(i)];
    ASSERT_EQ(point.time_ns, i * 1000);
    ASSERT_EQ(point.value, static_cast<double>(i));
    ASSERT_EQ(point.attempt, 7U);
    ASSERT_EQ(point.process, 1U);
  }
  Result<Database> file = Database::Open(RunFilePath(folder / ".wf", run.id), Database::Mode::kRead);
  EXPECT_LE(*file->QueryInt("SELECT count(*) FROM chunks"), 4);
  EXPECT_LE(*file->QueryInt("SELECT max(row_count) FROM chunks"), 65'536);
}

TEST(RunWriter, ADamagedChunkCostsOnlyItsOwnRows) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  for (int64_t i = 0; i < 6'000; ++i) writer->PutSeries("rss", {1, 0, i, 1.0});
  ASSERT_TRUE(IsOk(writer->Close()));
  {
    Result<Database> file = Database::Open(RunFilePath(folder / ".wf", run.id), Database::Mode::kWrite);
    ASSERT_TRUE(IsOk(file->Exec("UPDATE chunks SET data=x'00' WHERE id=(SELECT min(id) FROM chunks)")));
  }
  const auto series = store->Series(run.id);
  ASSERT_TRUE(IsOk(series.status()));
  EXPECT_THAT(series->at("rss"), SizeIs(6'000 - 4'096));
}

TEST(RunWriter, TheHookBeforeAFlushMayPutWhatIsOpen) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  std::atomic<int> calls{0};
  writer->SetBeforeFlush([&] {
    ++calls;
    writer->PutTask(MakeTask(1, "load"));
    writer->PutNode(MakeNode(1, base::NodeState::kRunning));
    EXPECT_FALSE(writer->Flush().ok());  // it would wait for itself
  });
  ASSERT_TRUE(IsOk(writer->Flush()));
  EXPECT_GE(calls, 1);
  EXPECT_EQ(Loaded(*store, run.id).nodes.at(0).state, base::NodeState::kRunning);
  ASSERT_TRUE(IsOk(writer->Close()));
}

TEST(RunWriter, RequestsOfAnotherStoreReachTheOwnerOnce) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  std::mutex mutex;
  std::vector<std::string> details;
  writer->SetOnRequest([&](const Request& request) {
    const std::lock_guard lock(mutex);
    details.push_back(std::to_string(request.kind) + request.detail);
  });
  const auto other = OpenStore(folder / ".wf");
  ASSERT_TRUE(IsOk(other->AddRequest(run.id, RequestKind::kCancel, "ctrl-c")));
  ASSERT_TRUE(IsOk(other->AddRequest(run.id, RequestKind::kDump, "")));
  ASSERT_TRUE(IsOk(writer->Flush()));
  ASSERT_TRUE(IsOk(writer->Flush()));
  EXPECT_THAT(details, ElementsAre("0ctrl-c", "1"));
  run.state = base::RunState::kCancelled;
  writer->PutRun(run);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(other->AddRequest(run.id, RequestKind::kCancel, "").code(), Code::kFailedPrecondition);
  const auto reader = OpenStore(folder / ".wf", Access::kRead);
  EXPECT_EQ(reader->AddRequest(run.id, RequestKind::kCancel, "").code(), Code::kFailedPrecondition);
}

TEST(RunWriter, AWriterThatIsDestroyedWithoutAFinalStateLeavesALostRun) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  {
    const auto writer = Begin(*store, run);
    writer->PutTask(MakeTask(1, "load"));
    writer->PutNode(MakeNode(1, base::NodeState::kRunning));
    profile::Attempt open = MakeAttempt(1, base::AttemptState::kRunning);
    open.end_ns = 0;
    writer->PutAttempt(open);
  }
  const profile::RunRecord record = Loaded(*store, run.id);
  EXPECT_EQ(record.run.state, base::RunState::kLost);
  EXPECT_THAT(record.run.cause, HasSubstr("without giving it a final state"));
  EXPECT_EQ(record.nodes.at(0).state, base::NodeState::kFailed);
  EXPECT_EQ(record.attempts.at(0).state, base::AttemptState::kLost);
  EXPECT_EQ(record.attempts.at(0).end_ns, record.run.end_ns);
}

TEST(RunWriter, PutsAfterCloseAreIgnoredAndCloseMayBeCalledTwice) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  run.state = base::RunState::kSuccess;
  writer->PutRun(run);
  ASSERT_TRUE(IsOk(writer->Close()));
  writer->PutNode(MakeNode(1));
  EXPECT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(writer->Flush().code(), Code::kFailedPrecondition);
  EXPECT_THAT(Loaded(*store, run.id).nodes, SizeIs(0));
  EXPECT_GT(writer->ThreadCpuNs(), 0);
}

TEST(RunWriter, TheWriterWorksOnAfterItsStoreIsGone) {
  const TempFolder folder;
  const profile::Run run = MakeRun();
  std::unique_ptr<RunWriter> writer;
  {
    const auto store = OpenStore(folder / ".wf");
    writer = Begin(*store, run);
  }
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_THAT(Loaded(*OpenStore(folder / ".wf", Access::kRead), run.id).nodes, SizeIs(1));
}

// 0 when the child was refused and could drop its copy of the writer.
int DropWriterInChild(std::unique_ptr<RunWriter>& writer) {
  const pid_t pid = fork();
  if (pid == 0) {
    const bool is_refused = !writer->Flush().ok() && !writer->Close().ok();
    writer.reset();
    _exit(is_refused ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(RunWriter, AForkedChildThatDropsTheWriterDoesNotDisturbTheParent) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  // At many moments: once the writer's thread waits, once it works.
  for (uint64_t id = 1; id <= 30; ++id) {
    writer->PutNode(MakeNode(id));
    if (id % 3 == 0) {
      ASSERT_TRUE(IsOk(writer->Flush()));
    }
    if (id % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_EQ(DropWriterInChild(writer), 0);
  }
  ASSERT_TRUE(IsOk(writer->Flush()));
  EXPECT_THAT(Loaded(*store, run.id).nodes, SizeIs(30));
  EXPECT_EQ(Loaded(*store, run.id).run.state, base::RunState::kRunning);
}

TEST(RunWriter, AStoreThatAnotherProcessHoldsOnlyDelaysTheRows) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  std::atomic<int> errors{0};
  writer->SetOnError([&](const Status&) { ++errors; });
  writer->PutTask(MakeTask(1, "load"));
  ASSERT_TRUE(IsOk(writer->Flush()));
  {
    Result<Database> holder = Database::Open(RunsDbPath(folder / ".wf"), Database::Mode::kWrite);
    ASSERT_TRUE(IsOk(holder->Exec("BEGIN IMMEDIATE")));
    writer->PutNode(MakeNode(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    ASSERT_TRUE(IsOk(holder->Exec("COMMIT")));
  }
  ASSERT_TRUE(IsOk(writer->Flush()));
  EXPECT_THAT(Loaded(*store, run.id).nodes, SizeIs(1));
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(writer->LostRows(), 0U);
}

}  // namespace
}  // namespace wf::store
