// Recorded stacks through the store: they come back as they were, survive a kill, and stay small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "profile/export.h"
#include "profile/stacks_for_test.h"
#include "store/folder.h"
#include "store/migrations.h"
#include "store/stack_file.h"
#include "store/test_support.h"

namespace wf::store {
namespace {

using profile::StackOf;
using profile::StackProfile;
using profile::StackRecorder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string JsonOf(const StackProfile& profile) {
  std::ostringstream out;
  profile::WriteStacksJson(profile, {}, out);
  return out.str();
}

// A recorder that was fed at random, by `rounds` rounds of `threads` threads.
class RandomProgram {
 public:
  RandomProgram(unsigned seed, uint32_t threads) : random_(seed), recorder_(Meta()) {
    for (uint32_t t = 0; t < threads; ++t) {
      recorder_.AddThread(1, static_cast<int32_t>(100 + t), t == 0 ? "Main" : "w\n", time_ns_);
    }
  }
  static profile::StackMeta Meta() {
    profile::StackMeta meta;
    meta.rate_hz = 1'000;
    meta.start_ns = 1'000'000'000;
    meta.start_wall_ns = 1'700'000'000'000'000'000;
    meta.rejected = {{"torn", 1}};
    meta.idle_included = false;
    meta.command = "python x.py --password hunter2";
    return meta;
  }
  // Each thread goes on with its stack, or by 1 in `change` takes another one.
  void Round(unsigned change) {
    for (uint32_t t = 0; t < 64 && t < threads(); ++t) {
      if (t >= stacks_.size() || random_() % change == 0) {
        stacks_.resize(std::max<size_t>(stacks_.size(), t + 1));
        stacks_[t] = StackOf(recorder_.table(), {"main", "f" + std::to_string(random_() % 50), "g"});
      }
      recorder_.Record(t, {.time_ns = time_ns_, .clock_ns = time_ns_, .stack = stacks_[t], .state = profile::kOnCpu});
    }
    recorder_.CountRound();
    time_ns_ += 1'000'000 + static_cast<int64_t>(random_() % 60'000);  // rounds are never quite on time
  }
  StackRecorder& recorder() { return recorder_; }
  int64_t time_ns() const { return time_ns_; }
  uint32_t threads() const { return threads_; }
  void set_threads(uint32_t threads) { threads_ = threads; }

 private:
  std::mt19937 random_;
  StackRecorder recorder_;
  int64_t time_ns_ = 1'000'000'000;
  uint32_t threads_ = 64;
  std::vector<uint32_t> stacks_;
};

TEST(Stacks, ComeBackAsTheyWerePutInPieces) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  RandomProgram program(1, 3);
  program.set_threads(3);
  profile::StackAssembler expected;
  for (int i = 0; i < 30'000; ++i) {
    program.Round(2);
    if (i % 5'000 != 4'999) continue;
    if (i > 25'000) program.recorder().Finish(program.time_ns());
    const profile::StackDelta delta = program.recorder().Take(program.time_ns());
    ASSERT_TRUE(expected.Add(delta).ok());
    writer->PutStacks(delta);
    ASSERT_TRUE(IsOk(writer->Flush()));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  Result<StackProfile> stacks = store->Stacks(run.id);
  ASSERT_TRUE(IsOk(stacks.status()));
  StackProfile wanted = expected.Finish();
  EXPECT_EQ(stacks->samples, wanted.samples);
  EXPECT_EQ(stacks->threads, wanted.threads);
  EXPECT_EQ(stacks->meta.command, "python x.py --password ***");
  wanted.meta.command = stacks->meta.command;
  EXPECT_EQ(stacks->meta, wanted.meta);
  EXPECT_EQ(stacks->processes.at(0).name, "owner");
  wanted.processes = stacks->processes;
  EXPECT_EQ(JsonOf(*stacks), JsonOf(wanted));
}

TEST(Stacks, ARunWithoutThemSaysSo) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  EXPECT_EQ(store->Stacks(run.id).status().code(), Code::kNotFound);
  writer->AddLog({1, 1, profile::Stream::kLog, 20, "has a file, but no stacks"});
  ASSERT_TRUE(IsOk(writer->Flush()));
  EXPECT_THAT(store->Stacks(run.id).status().message(), HasSubstr("no recorded stacks"));
}

// Bytes of all chunks of samples for so many rounds, flushed twice a second, and the bits per reading.
double BitsPerSample(uint32_t threads, unsigned change, int rounds) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  RandomProgram program(7, threads);
  program.set_threads(threads);
  for (int i = 1; i <= rounds; ++i) {
    program.Round(change);
    if (i % 500 != 0) continue;
    if (i == rounds) program.recorder().Finish(program.time_ns());
    writer->PutStacks(program.recorder().Take(program.time_ns()));
    EXPECT_TRUE(IsOk(writer->Flush()));
  }
  EXPECT_TRUE(IsOk(writer->Close()));
  Result<Database> file = Database::Open(RunFilePath(folder / ".wf", run.id), Database::Mode::kRead);
  // What SQLite adds to a row of this table is about 20 bytes.
  const int64_t bytes = *file->QueryInt("SELECT sum(length(data) + 20) FROM chunks WHERE kind=1");
  const double bits = 8.0 * static_cast<double>(bytes) / (static_cast<double>(rounds) * threads);
  printf("%u threads, a change in %u readings: %.3f bits a sample\n", threads, change, bits);
  return bits;
}

TEST(Stacks, SteadyOnesTakeAtMostFourBitsASample) {
  EXPECT_LT(BitsPerSample(64, 1'000'000'000, 10'000), 0.1);  // parked
  EXPECT_LT(BitsPerSample(1, 100, 60'000), 4);
  EXPECT_LT(BitsPerSample(8, 20, 10'000), 4);
  EXPECT_LT(BitsPerSample(1, 1, 60'000), 48);  // another stack at each reading: nothing is steady
}

[[noreturn]] void RecordUntilKilled(const std::filesystem::path& folder, const profile::Run& run, int pipe) {
  Result<std::unique_ptr<Store>> store = Store::Open(folder, Access::kReadWrite);
  if (!store.ok()) _exit(1);
  Result<std::unique_ptr<RunWriter>> writer = (*store)->BeginRun(run, MakeOwner());
  if (!writer.ok()) _exit(2);
  RandomProgram program(3, 2);
  program.set_threads(2);
  for (int i = 0;; ++i) {
    program.Round(5);
    if (i % 100 == 0) (*writer)->PutStacks(program.recorder().Take(program.time_ns()));
    if (i == 1'000) (void)!write(pipe, &i, sizeof(i));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

TEST(Stacks, AKilledRecorderLeavesAllButTheLastSecond) {
  const TempFolder folder;
  const profile::Run run = MakeRun();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t pid = fork();
  if (pid == 0) RecordUntilKilled(folder / ".wf", run, pipe[1]);
  close(pipe[1]);
  int rounds = 0;
  ASSERT_EQ(read(pipe[0], &rounds, sizeof(rounds)), static_cast<ssize_t>(sizeof(rounds)));
  std::this_thread::sleep_for(std::chrono::milliseconds(2'000));
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  const auto store = OpenStore(folder / ".wf", Access::kRead);
  const Result<StackProfile> stacks = store->Stacks(run.id);
  ASSERT_TRUE(IsOk(stacks.status()));
  uint64_t count = 0;
  for (const profile::StackSample& sample : stacks->samples) count += sample.count;
  EXPECT_GE(count, 2U * static_cast<uint64_t>(rounds));
  EXPECT_EQ(stacks->total_weight_ns(), (stacks->threads[0].last_ns - stacks->threads[0].first_ns) * 2);
  close(pipe[0]);
}

TEST(Stacks, DamagedChunksCostOnlyTheirOwnRows) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  const auto writer = Begin(*store, run);
  RandomProgram program(5, 2);
  program.set_threads(2);
  for (int i = 1; i <= 12'000; ++i) {
    program.Round(1);
    if (i % 4'000 == 0) writer->PutStacks(program.recorder().Take(program.time_ns()));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  const int64_t whole = store->Stacks(run.id)->total_weight_ns();
  const std::filesystem::path path = RunFilePath(folder / ".wf", run.id);
  const auto change = [&](const char* sql) {
    Result<Database> file = Database::Open(path, Database::Mode::kWrite);
    ASSERT_TRUE(IsOk(file->Exec(sql)));
  };
  change("UPDATE chunks SET data = x'00' WHERE id = (SELECT max(id) FROM chunks WHERE kind = 1)");
  const int64_t less = store->Stacks(run.id)->total_weight_ns();
  EXPECT_LT(less, whole);
  EXPECT_GT(less, 0);
  change("UPDATE chunks SET data = x'00' WHERE kind = 5");
  Result<StackProfile> nameless = store->Stacks(run.id);
  ASSERT_TRUE(IsOk(nameless.status()));
  EXPECT_EQ(nameless->total_weight_ns(), less);
  EXPECT_THAT(JsonOf(*nameless), HasSubstr("<not kept>"));
  change("DELETE FROM stack_texts; UPDATE stack_meta SET meta = '{]'; DELETE FROM chunks WHERE kind = 6");
  EXPECT_EQ(store->Stacks(run.id).status().code(), Code::kDataLoss);
}

// Whatever the bytes: read, refused, never harmful. The sanitizers watch.
TEST(Stacks, MutatedChunksNeverHarm) {
  const std::vector<profile::StackSample> samples = profile::NastyProfile(1).samples;
  const std::string whole = EncodeChunk(SampleColumns(samples));
  std::mt19937_64 random(11);
  for (int i = 0; i < 3'000; ++i) {
    std::vector<Column> columns = SampleColumns(samples);
    for (int change = 0; change < 5; ++change) {
      std::vector<int64_t>& ints = columns[random() % columns.size()].ints;
      ints[random() % ints.size()] = static_cast<int64_t>(random() >> (random() % 64));
    }
    (void)SamplesOf(columns);
  }
  EXPECT_EQ(SamplesOf(*DecodeChunk(whole))->size(), samples.size());
}

TEST(Stacks, AFileOfTheFirstSchemaIsBroughtForward) {
  const TempFolder folder;
  const auto store = OpenStore(folder / ".wf");
  const profile::Run run = MakeRun();
  (void)Begin(*store, run)->Close();
  {
    Result<Database> file = Database::Open(RunFilePath(folder / ".wf", run.id), Database::Mode::kCreate);
    ASSERT_TRUE(IsOk(Migrate(*file, {RunFileSchema().application_id, RunFileSchema().steps.first(1)})));
    ASSERT_TRUE(IsOk(file->Exec("INSERT INTO logs VALUES(1, 0, 5, 2, 20, 'old')")));
  }
  EXPECT_EQ(store->Stacks(run.id).status().code(), Code::kNotFound);
  EXPECT_THAT(*store->Logs(run.id, {}), Not(IsEmpty()));
}

}  // namespace
}  // namespace wf::store
