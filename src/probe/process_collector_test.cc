#include "probe/process_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "metrics/exposition.h"
#include "probe/burn_testing.h"
#include "probe/recorded_tree_testing.h"

namespace wf::probe {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Page(const metrics::Registry& registry) { return metrics::Render(registry, metrics::Format::kText); }

// The value of the sample that starts with `series`; -1 when there is none.
double Sample(const std::string& page, const std::string& series) {
  const size_t at = page.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(page.substr(at + series.size() + 2));
}

// A worker's /proc: `cpu_ticks` of user time.
void Worker(RecordedTree* tree, int cpu_ticks, const std::string& start_ticks = "500") {
  tree->File("/proc/70/stat", "70 (w) S 1 2 3 0 -1 4194304 101 0 0 0 " + std::to_string(cpu_ticks) +
                                  " 0 0 0 20 0 3 0 " + start_ticks + " 8192 2 0\n");
  tree->File("/proc/70/limits",
             "Limit                     Soft Limit           Hard Limit           Units\n"
             "Max open files            64                   4096                 files\n"
             "Max address space         unlimited            unlimited            bytes\n");
  tree->File("/proc/stat", "cpu 1 2 3\nbtime 1000\n");
}

TEST(ProcessCollectorTest, ShowsThisProcessUnderTheStandardNames) {
  metrics::Registry registry;
  const auto collector = ProcessCollector::Register(&registry);
  ASSERT_TRUE(collector.ok());
  BurnCpu(50 * kMs);
  const std::string page = Page(registry);
  EXPECT_GE(Sample(page, "process_cpu_seconds_total{worker=\"\"}"), 0.03);
  EXPECT_GT(Sample(page, "process_resident_memory_bytes{worker=\"\"}"), 1e6);
  EXPECT_GT(Sample(page, "process_virtual_memory_bytes{worker=\"\"}"), 1e6);
  EXPECT_GT(Sample(page, "process_virtual_memory_max_bytes{worker=\"\"}"), 1e6);
  EXPECT_GE(Sample(page, "process_open_fds{worker=\"\"}"), 3);
  EXPECT_GT(Sample(page, "process_max_fds{worker=\"\"}"), 3);
  EXPECT_GT(Sample(page, "process_start_time_seconds{worker=\"\"}"), 1e9);
  EXPECT_GE(Sample(page, "process_threads{worker=\"\"}"), 1);
  EXPECT_THAT(page, HasSubstr("# TYPE process_cpu_seconds_total counter"));
}

TEST(ProcessCollectorTest, ReadsAWorkerAndItsLimits) {
  RecordedTree tree;
  Worker(&tree, 250);
  metrics::Registry registry;
  const auto collector = ProcessCollector::Register(&registry, tree.root());
  ASSERT_TRUE(collector.ok());
  (*collector)->AddWorker(3, 70);
  const std::string page = Page(registry);
  const double hz = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(Sample(page, "process_cpu_seconds_total{worker=\"3\"}"), 250 / hz);
  EXPECT_DOUBLE_EQ(Sample(page, "process_start_time_seconds{worker=\"3\"}"), 1000 + 500 / hz);
  EXPECT_EQ(Sample(page, "process_max_fds{worker=\"3\"}"), 64);
  EXPECT_EQ(Sample(page, "process_threads{worker=\"3\"}"), 3);
  EXPECT_EQ(Sample(page, "process_open_fds{worker=\"3\"}"), -1) << "what cannot be read must be absent";
}

TEST(ProcessCollectorTest, CpuOfADeadWorkerStaysAndItsSuccessorGoesOnFromThere) {
  RecordedTree tree;
  Worker(&tree, 300);
  metrics::Registry registry;
  const auto collector = ProcessCollector::Register(&registry, tree.root());
  ASSERT_TRUE(collector.ok());
  const double hz = static_cast<double>(sysconf(_SC_CLK_TCK));
  (*collector)->AddWorker(0, 70);
  (*collector)->RemoveWorker(0);
  std::string page = Page(registry);
  EXPECT_DOUBLE_EQ(Sample(page, "process_cpu_seconds_total{worker=\"0\"}"), 300 / hz);
  EXPECT_THAT(page, Not(HasSubstr("process_threads{worker=\"0\"}")));
  Worker(&tree, 20, "900");
  (*collector)->AddWorker(0, 70);
  page = Page(registry);
  EXPECT_DOUBLE_EQ(Sample(page, "process_cpu_seconds_total{worker=\"0\"}"), 320 / hz);
}

TEST(ProcessCollectorTest, AnotherProcessWithTheSamePidIsNotTheWorker) {
  RecordedTree tree;
  Worker(&tree, 300);
  metrics::Registry registry;
  const auto collector = ProcessCollector::Register(&registry, tree.root());
  ASSERT_TRUE(collector.ok());
  (*collector)->AddWorker(0, 70);
  Worker(&tree, 99999, "900");
  const std::string page = Page(registry);
  EXPECT_DOUBLE_EQ(Sample(page, "process_cpu_seconds_total{worker=\"0\"}"),
                   300 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  EXPECT_THAT(page, Not(HasSubstr("process_threads{worker=\"0\"}")));
}

TEST(ProcessCollectorTest, TakesItsFamiliesOffThePageWhenItGoes) {
  metrics::Registry registry;
  {
    const auto collector = ProcessCollector::Register(&registry);
  }
  EXPECT_THAT(Page(registry), Not(HasSubstr("process_")));
  EXPECT_TRUE(ProcessCollector::Register(&registry).ok());
}

TEST(ProcessCollectorTest, ASecondOneInTheSameRegistryIsRefused) {
  metrics::Registry registry;
  const auto first = ProcessCollector::Register(&registry);
  EXPECT_EQ(ProcessCollector::Register(&registry).status().code(), Code::kAlreadyExists);
  EXPECT_THAT(Page(registry), HasSubstr("process_cpu_seconds_total"));
}

TEST(ProcessCollectorTest, AForkedChildShowsItselfWithoutItsParentsWorkers) {
  metrics::Registry registry;
  const auto collector = ProcessCollector::Register(&registry);
  ASSERT_TRUE(collector.ok());
  (*collector)->AddWorker(1, getppid());
  BurnCpu(200 * kMs);
  Page(registry);
  const pid_t child = fork();
  if (child == 0) {
    const std::string page = Page(registry);
    const double cpu = Sample(page, "process_cpu_seconds_total{worker=\"\"}");
    const bool right = cpu >= 0 && cpu < 0.15 && page.find("worker=\"1\"") == std::string::npos;
    _exit(right && Sample(page, "process_threads{worker=\"\"}") >= 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace wf::probe
