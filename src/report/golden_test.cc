// Whole outputs against tests/golden/report. To renew them after a wanted change: WF_UPDATE_GOLDEN=1
// build/…/report_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/bottleneck.h"
#include "analysis/record_for_test.h"
#include "report/clean.h"
#include "report/diff.h"
#include "report/doctor.h"
#include "report/logs.h"
#include "report/run_report.h"
#include "report/runs.h"
#include "report/show.h"

namespace wf::report {
namespace {

using analysis::kMiB;
using analysis::RecordForTest;
using profile::Figure;
using profile::Quality;

void CheckGolden(const std::string& name, const std::string& actual) {
  const std::filesystem::path file = std::filesystem::path(WF_GOLDEN_DIR) / name;
  if (std::getenv("WF_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << actual;
    return;
  }
  std::ifstream stream(file);
  ASSERT_TRUE(stream.good()) << file << " is missing; WF_UPDATE_GOLDEN=1 makes it";
  std::stringstream expected;
  expected << stream.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "if this change is wanted: WF_UPDATE_GOLDEN=1 renews " << file;
}

class GoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

// fetch : preprocess : train = 5 : 30 : 10, preprocess on one core of two.
RecordForTest Pipeline(double preprocess_s = 30, double preprocess_cores = 0.99) {
  const auto preprocess_ms = static_cast<int64_t>(preprocess_s * 1000);
  RecordForTest builder(15'300 + preprocess_ms, 2);
  const uint64_t fetch = builder.Node("fetch_images");
  const uint64_t preprocess = builder.Node("preprocess_images", {fetch});
  const uint64_t train = builder.Node("train_model", {preprocess});
  profile::Usage& fetched = builder.Attempt(fetch, 100, 5'100, 1'400).usage;
  fetched.memory_peak_bytes = Figure::Measured(180 * kMiB);
  fetched.read_bytes = Figure::Measured(48 * kMiB);
  fetched.write_bytes = Figure::Measured(2048);
  profile::Usage& processed =
      builder.Attempt(preprocess, 5'100, 5'100 + preprocess_ms, preprocess_s * 1000 * preprocess_cores).usage;
  processed.memory_peak_bytes = Figure::Measured(412 * kMiB);
  processed.read_bytes = Figure::Measured(0);
  processed.write_bytes = Figure::Measured(0);
  profile::Usage& trained = builder.Attempt(train, 5'100 + preprocess_ms, 15'200 + preprocess_ms, 19'000).usage;
  trained.memory_peak_bytes = {900 * kMiB, Quality::kShared};
  trained.cpu_ns.quality = Quality::kEstimated;
  return builder;
}

RunReport ReportOf(RecordForTest& builder) {
  RunReport report;
  report.run = builder.record().run;
  report.summary = analysis::Summarize(builder.record());
  report.verdict = analysis::FindBottleneck(
      report.summary, {.usable_cpus_milli = report.run.usable_cpus_milli, .memory_limit_bytes = 960 * kMiB});
  for (const std::string& id : analysis::AbsentFigures(report.summary)) {
    report.absent.push_back({id, id == "gpu_memory" ? "there is no NVIDIA driver on this machine" : ""});
  }
  return report;
}

RecordForTest FailedRun() {
  RecordForTest builder(2'000);
  profile::Run& run = builder.record().run;
  run.state = base::RunState::kFailed;
  run.cause = "train[1] failed: ValueError: empty batch";
  run.params = {{"epochs", "5"}, {"path", "\"data.csv\""}};
  run.tags = {{"who", "ci"}};
  run.argv = {"wf", "run", "pipeline.py", "--param", "path=data.csv"};
  run.commit = "0123abc+dirty";
  const uint64_t load = builder.Node("load");
  builder.Attempt(load, 10, 500, 400).worker = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const uint64_t train = builder.Node("train", {load});
    builder.record().nodes[train - 1].map_index = i;
    profile::Attempt& attempt = builder.Attempt(train, 500 + i, 1'500 + 100 * i, 700);
    attempt.worker = static_cast<int32_t>(i);
    if (i != 1) continue;
    attempt.state = base::AttemptState::kError;
    attempt.cause = "ValueError: empty batch";
    attempt.traceback =
        "Traceback (most recent call last):\n  File \"pipeline.py\", line 12, in train\n    raise "
        "ValueError(\"empty batch\")\nValueError: empty batch\n";
    builder.record().nodes[train - 1].state = base::NodeState::kFailed;
  }
  const uint64_t best = builder.Node("best", {2, 3, 4});
  builder.record().nodes[best - 1].state = base::NodeState::kSkipped;
  builder.record().nodes[best - 1].cause_node = 3;
  return builder;
}

TEST_F(GoldenTest, Report) {
  RecordForTest builder = Pipeline();
  CheckGolden("report.txt", RunReportText(ReportOf(builder), false, {}));
}

TEST_F(GoldenTest, ReportInFrench) {
  RecordForTest builder = Pipeline();
  CheckGolden("report_fr.txt", RunReportText(ReportOf(builder), false, {.language = Language::kFrench}));
}

TEST_F(GoldenTest, ReportJson) {
  RecordForTest builder = Pipeline();
  CheckGolden("report.json", RunReportJson(ReportOf(builder), Language::kEnglish));
}

TEST_F(GoldenTest, ReportOfARunInWhichNothingRan) {
  RecordForTest builder(20);
  builder.Node("load");
  CheckGolden("report_empty.txt", RunReportText(ReportOf(builder), false, {}));
}

TEST_F(GoldenTest, ShowOfAFailedRunHasTheUsersTracebackFirst) {
  RecordForTest builder = FailedRun();
  CheckGolden("show_failed.txt", ShowText(builder.record(), {}, {}));
}

TEST_F(GoldenTest, ShowOfALostRunSaysWhy) {
  RecordForTest builder(0);
  builder.record().run.state = base::RunState::kLost;
  builder.record().run.cause = "its owner (pid 1001 on host) ended without a word";
  builder.record().run.end_ns = 0;
  builder.Call("load", 0, 300, 200);
  profile::Attempt& open = builder.Call("train", 300, 0);
  open.end_ns = 0;
  open.state = base::AttemptState::kLost;
  builder.record().nodes[1].state = base::NodeState::kRunning;
  CheckGolden("show_lost.txt", ShowText(builder.record(), {}, {}));
}

TEST_F(GoldenTest, ShowJson) {
  RecordForTest builder = FailedRun();
  CheckGolden("show_failed.json", ShowJson(builder.record(), {}));
}

TEST_F(GoldenTest, Runs) {
  RecordForTest first = Pipeline();
  RecordForTest second = FailedRun();
  second.record().run.id = *base::RunId::Parse("01KAFG0000000000000000TES0");
  const std::vector<RunLine> lines = {{first.record().run, 3, 0, 45'300'000'000},
                                      {second.record().run, 5, 1, 2'000'000'000}};
  CheckGolden("runs.txt", RunsText(lines, ".wf", {}));
  CheckGolden("runs.json", RunsJson(lines, ".wf"));
}

TEST_F(GoldenTest, Diff) {
  RecordForTest before = Pipeline();
  RecordForTest after = Pipeline(12, 1.9);
  after.Call("extra", 0, 50, 10);
  const RunDiff diff{before.record().run, after.record().run,
                     analysis::Compare(analysis::Summarize(before.record()), analysis::Summarize(after.record()))};
  CheckGolden("diff.txt", DiffText(diff, {}));
  CheckGolden("diff.json", DiffJson(diff));
}

TEST_F(GoldenTest, Logs) {
  RecordForTest builder = FailedRun();
  RunLogs logs{builder.record(), {}};
  const int64_t start = RecordForTest::kStart;
  logs.lines = {{1, start + 20'000'000, profile::Stream::kStdout, 0, "reading\ntwo lines\n"},
                {3, start + 1'400'000'000, profile::Stream::kLog, 40, "batch is \x1b[31mempty"},
                {0, start + 1'900'000'000, profile::Stream::kStderr, 0, "bye"}};
  CheckGolden("logs.txt", LogsText(logs, {}));
  CheckGolden("logs.json", LogsJson(logs));
}

TEST_F(GoldenTest, Doctor) {
  Doctor doctor{
      "6.0.0",
      {{"cpu.time", "CPU time of attempts", Health::kGood, "CLOCK_THREAD_CPUTIME_ID", "", ""},
       {"gpu.nvml", "GPU memory", Health::kNot, "", "libnvidia-ml.so.1 is not there", "install the NVIDIA driver"}},
      {{"store.folder", "store", Health::kPartly, ".wf", "it does not exist yet", ""}}};
  CheckGolden("doctor.txt", DoctorText(doctor, {}));
  CheckGolden("doctor.json", DoctorJson(doctor));
}

TEST_F(GoldenTest, Clean) {
  RecordForTest builder = Pipeline();
  Cleaning cleaning{true, {{builder.record().run, 2 * kMiB, "older than the limit", ""}}, 4, 9 * kMiB};
  CheckGolden("clean.txt", CleanText(cleaning, {}));
}

}  // namespace
}  // namespace wf::report
