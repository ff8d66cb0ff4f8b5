#include "probe/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "probe/cgroup.h"
#include "probe/recorded_tree_testing.h"

namespace wf::probe {
namespace {

constexpr const char* kUnifiedMount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kV1Mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(MachineTest, TellsTheTruthOfThisOne) {
  const Machine machine = ReadMachine();
  EXPECT_GE(machine.affinity_cpus, 1);
  EXPECT_LE(machine.usable_cpus_milli, machine.affinity_cpus * 1000);
  EXPECT_GE(machine.usable_cpus_milli, 1);
  EXPECT_GT(machine.total_memory_bytes, 1 << 20);
  EXPECT_FALSE(machine.host.empty());
  EXPECT_EQ(machine.boot_id.size(), 36U);
}

TEST(MachineTest, UsableCpusFollowTheAffinity) {
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t all;
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof all, &all);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &all)) continue;
      CPU_SET(cpu, &one);
      break;
    }
    sched_setaffinity(0, sizeof one, &one);
    const Machine machine = ReadMachine();
    _exit(machine.affinity_cpus == 1 && machine.usable_cpus_milli <= 1000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CgroupTest, UnifiedTakesTheStrictestOnTheWayUp) {
  RecordedTree tree;
  tree.File("/proc/self/mountinfo", kUnifiedMount)
      .File("/proc/self/cgroup", "0::/user.slice/job\n")
      .File("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n")
      .File("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n")
      .File("/sys/fs/cgroup/user.slice/job/memory.max", "2147483648\n")
      .File("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  const CgroupLimits limits = ReadCgroupLimits(tree.root());
  EXPECT_EQ(limits.version, 2);
  EXPECT_EQ(limits.quota_milli, 1500);
  EXPECT_EQ(limits.memory_limit_bytes, 2147483648);
  EXPECT_EQ(limits.cpu_folder, tree.root() + "/sys/fs/cgroup/user.slice/job");
}

TEST(CgroupTest, VersionOneReadsItsOwnControllersOnAHybridHost) {
  RecordedTree tree;
  tree.File("/proc/self/mountinfo", kV1Mounts)
      .File("/proc/self/cgroup", "4:memory:/a/b\n2:cpu,cpuacct:/a\n0::/\n")
      .File("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n")
      .File("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n")
      .File("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .File("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
      .File("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n")
      .File("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  const CgroupLimits limits = ReadCgroupLimits(tree.root());
  EXPECT_EQ(limits.version, 1);
  EXPECT_EQ(limits.quota_milli, 500);
  EXPECT_EQ(limits.memory_limit_bytes, 1073741824);
}

TEST(CgroupTest, AContainerThatSeesOnlyItsOwnGroup) {
  RecordedTree tree;
  tree.File("/proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n")
      .File("/proc/self/cgroup", "2:cpu:/docker/abc\n")
      .File("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n")
      .File("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ReadCgroupLimits(tree.root()).quota_milli, 2500);
}

TEST(CgroupTest, NoCgroupsMeansNoLimits) {
  RecordedTree tree;
  const CgroupLimits limits = ReadCgroupLimits(tree.root());
  EXPECT_EQ(limits.version, 0);
  EXPECT_FALSE(limits.quota_milli.has_value());
  EXPECT_FALSE(limits.memory_limit_bytes.has_value());
}

TEST(CgroupTest, NonsenseIsNoLimit) {
  RecordedTree tree;
  tree.File("/proc/self/mountinfo", std::string("garbage\n1 2 - x\n") + kUnifiedMount)
      .File("/proc/self/cgroup", "::\n0\n0::/../../up\n")
      .File("/sys/fs/cgroup/cpu.max", "\n")
      .File("/sys/fs/cgroup/memory.max", "12x\n");
  const CgroupLimits limits = ReadCgroupLimits(tree.root());
  EXPECT_EQ(limits.version, 2);
  EXPECT_FALSE(limits.quota_milli.has_value());
  EXPECT_FALSE(limits.memory_limit_bytes.has_value());
}

}  // namespace
}  // namespace wf::probe
