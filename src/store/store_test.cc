#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "store/test_support.h"

namespace wf::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Store, EverythingOfARunComesBackAsItWasPut) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  profile::Run run = MakeRun();
  run.commit = "abc+dirty";
  run.tags = {{"branch", "main"}};
  run.params = {{"path", "\"data.csv\""}, {"epochs", "3"}};
  run.usable_cpus_milli = 2000;
  run.python = "3.11.2";
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  profile::Node node = MakeNode(1, base::NodeState::kFailed);
  node.map_index = 7;
  node.end_ns = 99;
  node.cause = "ValueError: no";
  writer->PutNode(node);
  profile::Node skipped = MakeNode(2, base::NodeState::kSkipped);
  skipped.cause_node = 1;
  skipped.parent = 1;
  writer->PutNode(skipped);
  const profile::Edge edge{1, 2, profile::EdgeKind::kData, profile::Figure::Measured(4096)};
  writer->PutEdges(&edge, 1);
  profile::Attempt attempt = MakeAttempt(1, base::AttemptState::kError);
  attempt.number = 2;
  attempt.worker = 3;
  attempt.tid = 4;
  attempt.cause = "ValueError: no";
  attempt.traceback = "Traceback (most recent call last):\n  …\nValueError: no";
  attempt.sampled = true;
  attempt.usage.cpus_allocated_milli = 1500;
  attempt.usage.memory_peak_bytes = {int64_t{1} << 40, profile::Quality::kShared};
  attempt.usage.energy_uj = {5, profile::Quality::kEstimated};
  attempt.usage.read_bytes = profile::Figure::Measured(0);
  writer->PutAttempt(attempt);
  run.state = base::RunState::kFailed;
  run.cause = "task load failed";
  run.end_ns = run.start_ns + 1000;
  writer->PutRun(run);
  ASSERT_TRUE(IsOk(writer->Close()));

  const profile::RunRecord record = Loaded(*store, run.id);
  EXPECT_EQ(record.run.id, run.id);
  EXPECT_EQ(record.run.workflow, "training");
  EXPECT_EQ(record.run.argv, run.argv);
  EXPECT_EQ(record.run.commit, run.commit);
  EXPECT_EQ(record.run.tags, run.tags);
  EXPECT_EQ(record.run.params, run.params);
  EXPECT_EQ(record.run.state, base::RunState::kFailed);
  EXPECT_EQ(record.run.cause, "task load failed");
  EXPECT_EQ(record.run.end_ns, run.end_ns);
  ASSERT_THAT(record.processes, SizeIs(1));
  EXPECT_EQ(record.processes[0].pid, getpid());
  EXPECT_EQ(record.processes[0].name, "owner");
  ASSERT_THAT(record.tasks, SizeIs(1));
  EXPECT_EQ(record.tasks[0].qualname, "pipeline.load");
  ASSERT_THAT(record.nodes, SizeIs(2));
  EXPECT_EQ(record.nodes[0].map_index, 7);
  EXPECT_EQ(record.nodes[0].cause, "ValueError: no");
  EXPECT_EQ(record.nodes[1].cause_node, 1U);
  EXPECT_EQ(record.nodes[1].cause, "");
  ASSERT_THAT(record.edges, SizeIs(1));
  EXPECT_EQ(record.edges[0].bytes, edge.bytes);
  ASSERT_THAT(record.attempts, SizeIs(1));
  EXPECT_EQ(record.attempts[0].usage, attempt.usage);
  EXPECT_EQ(record.attempts[0].traceback, attempt.traceback);
  EXPECT_EQ(record.attempts[0].state, base::AttemptState::kError);
  EXPECT_TRUE(record.attempts[0].sampled);
  EXPECT_EQ(record.attempts[0].number, 2);
}

TEST(Store, AbsentFiguresStayAbsentAndZeroStaysZero) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  profile::Attempt attempt = MakeAttempt(1);
  attempt.usage.write_bytes = profile::Figure::Measured(0);
  writer->PutAttempt(attempt);
  ASSERT_TRUE(IsOk(writer->Flush()));
  const profile::Usage usage = Loaded(*store, run.id).attempts.at(0).usage;
  EXPECT_FALSE(usage.gpu_memory_bytes.present());
  EXPECT_TRUE(usage.write_bytes.present());
  EXPECT_EQ(usage.write_bytes.value, 0);
}

TEST(Store, ReadingWhereThereIsNoStoreSaysHowToMakeOne) {
  const TempFolder folder;
  const auto store = Store::Open(folder / ".wf", Access::kRead);
  EXPECT_EQ(store.status().code(), Code::kNotFound);
  EXPECT_THAT(store.status().message(), HasSubstr("wf run"));
  EXPECT_FALSE(std::filesystem::exists(folder / ".wf"));
}

TEST(Store, ListsRunsNewestFirstWithTotalsAndFilters) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  std::vector<profile::Run> runs;
  for (const char* workflow : {"a", "b", "a"}) {
    profile::Run run = MakeRun(workflow);
    const auto writer = Begin(*store, run);
    writer->PutTask(MakeTask(1, "load"));
    writer->PutNode(MakeNode(1));
    writer->PutNode(MakeNode(2, base::NodeState::kFailed));
    run.state = runs.empty() ? base::RunState::kFailed : base::RunState::kSuccess;
    run.end_ns = run.start_ns + 5'000;
    writer->PutRun(run);
    ASSERT_TRUE(IsOk(writer->Close()));
    runs.push_back(run);
  }
  const auto all = store->ListRuns({});
  ASSERT_TRUE(all.ok());
  ASSERT_THAT(*all, SizeIs(3));
  EXPECT_EQ((*all)[0].run.id, runs[2].id);
  EXPECT_EQ((*all)[0].nodes, 2U);
  EXPECT_EQ((*all)[0].failed_nodes, 1U);
  EXPECT_EQ((*all)[0].wall_ns, 5'000);
  EXPECT_THAT(*store->ListRuns({.workflow = "a", .state = {}, .since_wall_ns = 0, .limit = 0}), SizeIs(2));
  EXPECT_THAT(*store->ListRuns({.workflow = "a", .state = base::RunState::kFailed, .since_wall_ns = 0, .limit = 0}),
              SizeIs(1));
  EXPECT_THAT(*store->ListRuns({.workflow = "", .state = {}, .since_wall_ns = 0, .limit = 1}), SizeIs(1));
  EXPECT_THAT(*store->ListRuns({.workflow = "", .state = {}, .since_wall_ns = base::WallNs(), .limit = 0}), IsEmpty());
}

TEST(Store, ResolvesTagsToTheNewestRunThatHasThem) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  profile::Run old = MakeRun();
  old.tags = {{"branch", "main"}};
  profile::Run young = MakeRun();
  young.tags = {{"branch", "main"}};
  (void)Begin(*store, old);
  (void)Begin(*store, young);
  const auto found = store->Resolve("tag:branch=main");
  ASSERT_TRUE(IsOk(found.status()));
  EXPECT_EQ(*found, young.id);
  EXPECT_EQ(*store->Resolve("last~1"), old.id);
  EXPECT_EQ(store->Resolve("tag:branch=dev").status().code(), Code::kNotFound);
  EXPECT_EQ(store->Resolve("tag:branch").status().code(), Code::kInvalidArgument);
}

TEST(Store, LogsAreKeptPerTaskNodeAndStream) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  EXPECT_THAT(*store->Logs(run.id, {}), IsEmpty());
  writer->PutTask(MakeTask(1, "load"));
  writer->PutTask(MakeTask(2, "train"));
  profile::Node second = MakeNode(2);
  second.task = 2;
  writer->PutNode(MakeNode(1));
  writer->PutNode(second);
  writer->PutAttempt(MakeAttempt(1));
  writer->PutAttempt(MakeAttempt(2));
  writer->AddLog({1, 10, profile::Stream::kStdout, 0, "loading"});
  writer->AddLog({2, 20, profile::Stream::kLog, 30, "slow"});
  writer->AddLog({0, 5, profile::Stream::kStderr, 0, "outside, token=abc"});
  ASSERT_TRUE(IsOk(writer->Flush()));
  const auto texts = [&](const LogFilter& filter) {
    std::vector<std::string> out;
    const auto lines = store->Logs(run.id, filter);
    EXPECT_TRUE(IsOk(lines.status()));
    if (!lines.ok()) return out;
    for (const auto& line : *lines) out.push_back(line.text);
    return out;
  };
  EXPECT_THAT(texts({}), ElementsAre("outside, token=***", "loading", "slow"));
  EXPECT_THAT(texts({.task = "train", .node = 0, .stream = {}}), ElementsAre("slow"));
  EXPECT_THAT(texts({.task = "", .node = 1, .stream = {}}), ElementsAre("loading"));
  EXPECT_THAT(texts({.task = "", .node = 0, .stream = profile::Stream::kStdout}), ElementsAre("loading"));
}

TEST(Store, SizeOfARunIsItsOwnFileAndItsShareOfTheCommonOne) {
  const TempFolder folder;
  auto store = OpenStore(folder / ".wf");
  const auto size_with_nodes = [&](uint32_t nodes) {
    profile::Run run = MakeRun();
    const auto writer = Begin(*store, run);
    writer->PutTask(MakeTask(1, "load"));
    for (uint32_t id = 1; id <= nodes; ++id) writer->PutNode(MakeNode(id));
    run.state = base::RunState::kSuccess;
    writer->PutRun(run);
    EXPECT_TRUE(IsOk(writer->Close()));
    return run.id;
  };
  const base::RunId small = size_with_nodes(1);
  const base::RunId large = size_with_nodes(5000);
  const uint64_t of_both = *store->SizeOf(small) + *store->SizeOf(large);
  EXPECT_GT(*store->SizeOf(large), 1000 * *store->SizeOf(small));
  EXPECT_EQ(store->SizeOf(MakeRun().id).status().code(), Code::kNotFound);
  store.reset();  // the log beside the file goes into it
  EXPECT_NEAR(static_cast<double>(of_both), static_cast<double>(std::filesystem::file_size(folder / ".wf" / "runs.db")),
              65536);
}

TEST(Store, RemovingARunTakesItsRowsAndFilesAndLeavesTheOthers) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  profile::Run run = MakeRun();
  const profile::Run other = MakeRun();
  const auto other_writer = Begin(*store, other);
  const auto writer = Begin(*store, run);
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  writer->AddLog({0, 5, profile::Stream::kLog, 0, "text"});
  ASSERT_TRUE(IsOk(writer->Flush()));
  const Status refused = store->Remove(run.id);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("still going"));
  run.state = base::RunState::kSuccess;
  writer->PutRun(run);
  ASSERT_TRUE(IsOk(writer->Close()));
  ASSERT_TRUE(IsOk(store->Remove(run.id)));
  EXPECT_EQ(store->Load(run.id).status().code(), Code::kNotFound);
  EXPECT_EQ(store->SizeOf(run.id).status().code(), Code::kNotFound);
  EXPECT_TRUE(store->Load(other.id).ok());
  EXPECT_EQ(store->Remove(run.id).code(), Code::kNotFound);
}

TEST(Store, SecretsAreReplacedBeforeTheyAreStored) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  profile::Run run = MakeRun();
  run.argv = {"wf", "run", "p.py", "--param", "api_key=xyz"};
  run.params = {{"api_key", "\"xyz\""}};
  run.tags = {{"url", "http://me:pw@host/"}};
  (void)Begin(*store, run);
  const profile::Run stored = Loaded(*store, run.id).run;
  EXPECT_THAT(stored.argv, ElementsAre("wf", "run", "p.py", "--param", "api_key=***"));
  EXPECT_EQ(stored.params.at("api_key"), "\"***\"");
  EXPECT_EQ(stored.tags.at("url"), "http://me:***@host/");
}

TEST(Store, RowsThatWereLostAreFilledInSoThatReferencesHold) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  profile::Node node = MakeNode(3);
  node.task = 2;
  writer->PutNode(node);
  writer->PutAttempt(MakeAttempt(5));
  ASSERT_TRUE(IsOk(writer->Flush()));
  const profile::RunRecord record = Loaded(*store, run.id);
  ASSERT_THAT(record.nodes, SizeIs(5));
  for (size_t i = 0; i < record.nodes.size(); ++i) {
    EXPECT_EQ(record.nodes[i].id, i + 1);
    ASSERT_GE(record.nodes[i].task, 1U);
    ASSERT_LE(record.nodes[i].task, record.tasks.size());
  }
  EXPECT_EQ(record.tasks[1].name, "(not stored)");
}

TEST(Store, LocateTakesTheOptionThenTheEnvironmentThenTheConfigurationFile) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directories(folder.path() / "a" / "b");
  std::filesystem::current_path(folder.path() / "a" / "b");
  unsetenv("WF_STORE");
  const std::filesystem::path here = std::filesystem::current_path();
  EXPECT_EQ(Locate(""), here / ".wf");
  std::ofstream(folder.path() / "workflow.toml") << "";
  EXPECT_EQ(Locate(""), here.parent_path().parent_path() / ".wf");
  setenv("WF_STORE", "/elsewhere", 1);
  EXPECT_EQ(Locate(""), "/elsewhere");
  EXPECT_EQ(Locate("given"), "given");
  unsetenv("WF_STORE");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace wf::store
