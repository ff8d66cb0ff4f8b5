#include "metrics/run_families.h"

#include <gmock/gmock.h>

#include <string>

#include "metrics/exposition.h"

namespace wf::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RunFamiliesTest : public ::testing::Test {
 protected:
  std::string Page() { return Render(registry_, Format::kText); }

  Registry registry_{{.most_task_pairs = 3, .warn = [](std::string_view) {}}};
  std::unique_ptr<RunFamilies> families_ = *RunFamilies::Create(&registry_, {.name_prefix = "", .version = "6.0.0"});
};

TEST_F(RunFamiliesTest, EveryStatusOfATaskIsThereAtZeroFromRegistration) {
  families_->Task("training", "load");
  const std::string page = Page();
  for (const char* status : {"success", "error", "timeout", "cancelled", "cached", "lost"}) {
    const std::string labels = std::string("{workflow=\"training\",task=\"load\",status=\"") + status + "\"}";
    EXPECT_THAT(page, HasSubstr("\nduration_seconds_count" + labels + " 0\n"));
    EXPECT_THAT(page, HasSubstr("\ntask_runs_total" + labels + " 0\n"));
  }
  EXPECT_THAT(page, HasSubstr("\ncpu_seconds_total{workflow=\"training\",task=\"load\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("\ntask_retries_total{workflow=\"training\",task=\"load\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("\ntask_queue_seconds_count{workflow=\"training\",task=\"load\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("\ntask_running{workflow=\"training\",task=\"load\"} 0\n"));
}

TEST_F(RunFamiliesTest, WhatIsNotMeasuredIsAbsent) {
  families_->Task("training", "load");
  const std::string page = Page();
  for (const char* name : {"task_start_timestamp_seconds", "task_last_duration_seconds", "task_memory_peak_bytes",
                           "workflow_last_success_timestamp_seconds", "gpu_memory_used_bytes"}) {
    EXPECT_THAT(page, Not(HasSubstr(std::string("\n") + name + "{"))) << name;
  }
  EXPECT_THAT(page, Not(HasSubstr("\nprofiler_sample_ratio")));
}

TEST_F(RunFamiliesTest, AnAttemptIsCountedOnceInEachFamily) {
  TaskMetrics* metrics = families_->Task("training", "load");
  metrics->ObserveAttempt(base::StatusLabel::kSuccess, 1'500'000'000, 3'000'000'000);
  metrics->ObserveAttempt(base::StatusLabel::kError, 250'000'000, -1);
  metrics->ObserveQueue(-5);
  metrics->CountRetry();
  metrics->SetMemoryPeak(4096);
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("duration_seconds_sum{workflow=\"training\",task=\"load\",status=\"success\"} 1.5\n"));
  EXPECT_THAT(
      page, HasSubstr("duration_seconds_bucket{workflow=\"training\",task=\"load\",status=\"error\",le=\"0.25\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("task_runs_total{workflow=\"training\",task=\"load\",status=\"error\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("cpu_seconds_total{workflow=\"training\",task=\"load\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("task_last_duration_seconds{workflow=\"training\",task=\"load\"} 0.25\n"));
  EXPECT_THAT(page, HasSubstr("task_retries_total{workflow=\"training\",task=\"load\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("task_memory_peak_bytes{workflow=\"training\",task=\"load\"} 4096\n"));
  EXPECT_THAT(page, HasSubstr("task_queue_seconds_sum{workflow=\"training\",task=\"load\"} 0\n"));
}

TEST_F(RunFamiliesTest, StartTimestampIsThatOfTheOldestRunningAttempt) {
  TaskMetrics* metrics = families_->Task("w", "t");
  metrics->AttemptStarted(5'000'000'000);
  metrics->AttemptStarted(3'000'000'000);
  metrics->AttemptStarted(3'000'000'000);
  EXPECT_THAT(Page(), HasSubstr("task_start_timestamp_seconds{workflow=\"w\",task=\"t\"} 3\n"));
  EXPECT_THAT(Page(), HasSubstr("task_running{workflow=\"w\",task=\"t\"} 3\n"));
  metrics->AttemptEnded(3'000'000'000);
  metrics->AttemptEnded(3'000'000'000);
  metrics->AttemptEnded(99);
  EXPECT_THAT(Page(), HasSubstr("task_start_timestamp_seconds{workflow=\"w\",task=\"t\"} 5\n"));
  metrics->AttemptEnded(5'000'000'000);
  EXPECT_THAT(Page(), Not(HasSubstr("\ntask_start_timestamp_seconds{")));
  EXPECT_THAT(Page(), HasSubstr("task_running{workflow=\"w\",task=\"t\"} 0\n"));
}

TEST_F(RunFamiliesTest, GpuMemoryGoesWhenTheTaskEnds) {
  Gauge* memory = families_->GpuMemory("0", "1", "w", "t");
  memory->Set(1024);
  EXPECT_THAT(Page(), HasSubstr("gpu_memory_used_bytes{gpu=\"0\",worker=\"1\",workflow=\"w\",task=\"t\"} 1024\n"));
  memory->Clear();
  EXPECT_THAT(Page(), Not(HasSubstr("\ngpu_memory_used_bytes{")));
}

TEST_F(RunFamiliesTest, TenThousandTaskNamesStayBounded) {
  for (int i = 0; i < 10'000; ++i) {
    families_->Task("w", "t" + std::to_string(i))->ObserveAttempt(base::StatusLabel::kSuccess, 1, 1);
  }
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("task_runs_total{workflow=\"w\",task=\"__other__\",status=\"success\"} 9997\n"));
  EXPECT_THAT(page, HasSubstr("metrics_labelsets_dropped_total 9997\n"));
  EXPECT_LT(page.size(), 200'000);
}

TEST_F(RunFamiliesTest, OwnFamiliesCarryVersionAndLastSuccess) {
  families_->WorkflowSucceeded("w", 1'764'000'000'500'000'000);
  families_->profiler_errors().Inc();
  families_->profiler_sample_ratio().Set(0.1);
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("workflow_build_info{version=\"6.0.0\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("workflow_last_success_timestamp_seconds{workflow=\"w\"} 1764000000.5\n"));
  EXPECT_THAT(page, HasSubstr("profiler_errors_total 1\n"));
  EXPECT_THAT(page, HasSubstr("profiler_sample_ratio 0.1\n"));
}

TEST(RunFamiliesPrefixTest, NamespacePrefixesEveryFamilyAndAvoidsAClash) {
  Registry registry;
  ASSERT_TRUE(registry.AddGauge("duration_seconds", "Somebody else's.").ok());
  EXPECT_EQ(RunFamilies::Create(&registry, {}).status().code(), Code::kAlreadyExists);
  auto families = RunFamilies::Create(&registry, {.name_prefix = "workflow", .version = "6"});
  ASSERT_TRUE(families.ok());
  (*families)->Task("w", "t");
  EXPECT_THAT(Render(registry, Format::kText),
              HasSubstr("\nworkflow_duration_seconds_count{workflow=\"w\",task=\"t\""));
}

}  // namespace
}  // namespace wf::metrics
