#include "store/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <fstream>
#include <iterator>
#include <thread>

#include "store/folder.h"
#include "store/test_support.h"

namespace wf::store {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// A store as version 1 left it, in `folder`.
void MakeVersion1(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::ifstream file(std::string(WF_STORE_TESTDATA) + "/runs_v1.sql");
  ASSERT_TRUE(file.good());
  const std::string sql{std::istreambuf_iterator<char>(file), {}};
  Result<Database> database = Database::Open(RunsDbPath(folder), Database::Mode::kCreate);
  ASSERT_TRUE(IsOk(database.status()));
  ASSERT_TRUE(IsOk(database->Exec(sql.c_str())));
}

int64_t VersionOf(const std::filesystem::path& folder) {
  Result<Database> database = Database::Open(RunsDbPath(folder), Database::Mode::kRead);
  EXPECT_TRUE(IsOk(database.status()));
  return *database->QueryInt("PRAGMA user_version");
}

void ExpectRunOfVersion1(Store& store) {
  const auto runs = store.ListRuns({});
  ASSERT_TRUE(IsOk(runs.status()));
  ASSERT_THAT(*runs, SizeIs(1));
  EXPECT_EQ((*runs)[0].nodes, 3U);
  EXPECT_EQ((*runs)[0].failed_nodes, 1U);
  const profile::RunRecord record = Loaded(store, (*runs)[0].run.id);
  EXPECT_EQ(record.run.state, base::RunState::kFailed);
  EXPECT_EQ(record.run.tags.at("branch"), "main");
  ASSERT_THAT(record.nodes, SizeIs(3));
  EXPECT_EQ(record.nodes[1].cause, "ValueError: no");
  ASSERT_THAT(record.attempts, SizeIs(1));
  EXPECT_EQ(record.attempts[0].usage.memory_peak_bytes, (profile::Figure{1048576, profile::Quality::kShared}));
  EXPECT_FALSE(record.attempts[0].usage.read_bytes.present());
}

TEST(Migrations, AStoreOfVersion1IsBroughtForwardWithItsRuns) {
  const TempFolder folder;
  MakeVersion1(folder / ".wf");
  const auto store = OpenStore(folder / ".wf");
  EXPECT_EQ(VersionOf(folder / ".wf"), RunsSchema().newest());
  ExpectRunOfVersion1(*store);
  (void)Begin(*store, MakeRun());
  EXPECT_THAT(*store->ListRuns({}), SizeIs(2));
}

TEST(Migrations, AReaderBringsAnOlderStoreForwardToo) {
  const TempFolder folder;
  MakeVersion1(folder / ".wf");
  const auto store = OpenStore(folder / ".wf", Access::kRead);
  ExpectRunOfVersion1(*store);
}

TEST(Migrations, ANewerSchemaIsRefusedByWritersAndReadersWithTheWayOut) {
  const TempFolder folder;
  (void)OpenStore(folder / ".wf");
  {
    Result<Database> database = Database::Open(RunsDbPath(folder / ".wf"), Database::Mode::kWrite);
    ASSERT_TRUE(IsOk(database->Exec("PRAGMA user_version=999")));
  }
  for (const Access access : {Access::kRead, Access::kReadWrite}) {
    const auto store = Store::Open(folder / ".wf", access);
    EXPECT_EQ(store.status().code(), Code::kFailedPrecondition);
    EXPECT_THAT(store.status().message(), HasSubstr("newer Workflow"));
    EXPECT_THAT(store.status().message(), HasSubstr("--store"));
  }
  EXPECT_EQ(VersionOf(folder / ".wf"), 999);
}

TEST(Migrations, ADatabaseOfAnotherProgramIsLeftAlone) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / ".wf");
  {
    Result<Database> database = Database::Open(RunsDbPath(folder / ".wf"), Database::Mode::kCreate);
    ASSERT_TRUE(IsOk(database->Exec("CREATE TABLE theirs(x)")));
  }
  const auto store = Store::Open(folder / ".wf", Access::kReadWrite);
  EXPECT_EQ(store.status().code(), Code::kFailedPrecondition);
  EXPECT_THAT(store.status().message(), HasSubstr("another program"));
}

TEST(Migrations, BytesThatAreNoDatabaseAreRefused) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / ".wf");
  std::ofstream(RunsDbPath(folder / ".wf")) << std::string(10'000, 'x');
  for (const Access access : {Access::kRead, Access::kReadWrite}) {
    EXPECT_EQ(Store::Open(folder / ".wf", access).status().code(), Code::kDataLoss);
  }
}

TEST(Migrations, AStepThatFailsLeavesTheDatabaseAsItWas) {
  const TempFolder folder;
  static constexpr std::array kGood{Migration{1, "CREATE TABLE a(x)"}};
  static constexpr std::array kBad{Migration{1, "CREATE TABLE a(x)"}, Migration{2, "CREATE TABLE b(x); NO SUCH THING"}};
  Result<Database> database = Database::Open(folder / "x.db", Database::Mode::kCreate);
  ASSERT_TRUE(IsOk(Migrate(*database, {1, kGood})));
  const Status status = Migrate(*database, {1, kBad});
  EXPECT_THAT(status.message(), HasSubstr("schema step 2"));
  EXPECT_EQ(*database->QueryInt("PRAGMA user_version"), 1);
  EXPECT_EQ(*database->QueryInt("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST(Migrations, ManyProcessesMayMakeTheSameStoreAtOnce) {
  const TempFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(Store::Open(folder / ".wf", Access::kReadWrite).ok() ? 0 : 1);
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(VersionOf(folder / ".wf"), RunsSchema().newest());
}

TEST(Migrations, ANewStoreCanGiveSpaceBack) {
  const TempFolder folder;
  (void)OpenStore(folder / ".wf");
  Result<Database> database = Database::Open(RunsDbPath(folder / ".wf"), Database::Mode::kRead);
  EXPECT_EQ(*database->QueryInt("PRAGMA auto_vacuum"), 2);  // incremental
}

}  // namespace
}  // namespace wf::store
