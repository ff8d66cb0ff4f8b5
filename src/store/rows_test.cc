#include "store/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/migrations.h"
#include "store/test_support.h"

namespace wf::store {
namespace {

TEST(Rows, EveryPutStatementFitsTheNewestSchema) {
  const TempFolder folder;
  Result<Database> database = Database::Open(folder / "runs.db", Database::Mode::kCreate);
  ASSERT_TRUE(IsOk(Migrate(*database, RunsSchema())));
  for (const std::string_view sql : {kPutProcess, kPutTask, kPutNode, kPutEdge, kPutAttempt}) {
    EXPECT_TRUE(IsOk(database->Prepare(sql).status()));
  }
}

TEST(Rows, EveryFigureOfAnAttemptHasAColumnOfItsOwn) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  profile::Attempt attempt = MakeAttempt(1);
  profile::Usage& usage = attempt.usage;
  int64_t value = 100;
  for (profile::Figure* figure :
       {&usage.cpu_ns, &usage.memory_peak_bytes, &usage.read_bytes, &usage.write_bytes, &usage.device_read_bytes,
        &usage.device_write_bytes, &usage.net_received_bytes, &usage.net_sent_bytes, &usage.gpu_memory_bytes,
        &usage.gpu_busy_ns, &usage.energy_uj, &usage.cpu_wait_ns}) {
    *figure = {++value, static_cast<profile::Quality>(1 + value % 3)};
  }
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  writer->PutAttempt(attempt);
  ASSERT_TRUE(IsOk(writer->Flush()));
  EXPECT_EQ(Loaded(*store, run.id).attempts.at(0).usage, usage);
}

TEST(Rows, AnAttemptOfAnotherRunKeepsWhatThatRunCallsIt) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  profile::Attempt foreign = MakeAttempt(1);
  foreign.of_run = base::RunId::Make();
  foreign.of_node = 12;
  foreign.of_attempt = 34;
  writer->PutTask(MakeTask(1, "load"));
  writer->PutNode(MakeNode(1));
  writer->PutAttempt(foreign);
  writer->PutAttempt(MakeAttempt(2));
  ASSERT_TRUE(IsOk(writer->Flush()));
  const profile::RunRecord record = Loaded(*store, run.id);
  EXPECT_EQ(record.attempts.at(0).of_run, foreign.of_run);
  EXPECT_EQ(record.attempts.at(0).of_node, 12U);
  EXPECT_EQ(record.attempts.at(0).of_attempt, 34U);
  EXPECT_TRUE(record.attempts.at(1).of_run.IsNil());
  EXPECT_EQ(record.attempts.at(1).of_attempt, 0U);
}

}  // namespace
}  // namespace wf::store
