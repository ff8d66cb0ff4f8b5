// What a forked child finds. Each child reports by its exit status and runs no test code after that.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "metrics/exposition.h"
#include "metrics/run_families.h"

namespace wf::metrics {
namespace {

template <class Check>
int StatusOfChild(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ForkTest, ChildStartsAtZeroAndTheParentKeepsItsCounts) {
  Registry registry;
  Counter& counter = (*registry.AddCounter("rows", ""))->At({});
  Histogram& histogram = (*registry.AddHistogram("load", ""))->At({});
  Gauge& gauge = (*registry.AddGauge("depth", ""))->At({});
  counter.Inc(5);
  histogram.Observe(1);
  gauge.Set(3);
  EXPECT_EQ(StatusOfChild([&] {
              const bool zero = counter.Value() == 0 && histogram.Snapshot().count() == 0 && gauge.Value() == 3;
              counter.Inc();
              return zero && Render(registry, Format::kText).find("rows_total 1\n") != std::string::npos;
            }),
            0);
  EXPECT_EQ(counter.Value(), 5);
  EXPECT_EQ(histogram.Snapshot().count(), 1);
}

TEST(ForkTest, NoLockIsLeftHeldByAThreadThatTheChildLacks) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer leaves its own allocator locked in a child forked amid an allocation (GCC 12)";
#endif
  Registry registry;
  auto families = *RunFamilies::Create(&registry, {});
  ASSERT_TRUE(
      registry.AddCollector({{Type::kGauge, "depth", "", {}}}, [](CollectorSink& sink) { sink.Add(0, 1); }).ok());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    TaskMetrics* metrics = families->Task("w", "t");
    while (!stop) {
      metrics->AttemptStarted(1);
      metrics->ObserveAttempt(base::StatusLabel::kSuccess, 1000, 1000);
      metrics->AttemptEnded(1);
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) families->Task("w", std::to_string(i % 50));
  });
  threads.emplace_back([&] {
    while (!stop) Render(registry, Format::kText);
  });
  int failures = 0;
  for (int i = 0; i < 50; ++i) {
    failures += StatusOfChild([&] {
                  alarm(30);  // a deadlock ends the child by a signal
                  TaskMetrics* metrics = families->Task("w", "t");
                  metrics->AttemptStarted(7);
                  metrics->ObserveAttempt(base::StatusLabel::kSuccess, 1000, 1000);
                  return Render(registry, Format::kText).find("task_running{workflow=\"w\",task=\"t\"} 1\n") !=
                         std::string::npos;
                }) != 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace wf::metrics
