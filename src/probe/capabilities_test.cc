#include "probe/capabilities.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "probe/recorded_tree_testing.h"

namespace wf::probe {
namespace {

using ById = std::map<std::string, Capability>;

ById Probe(const std::string& root = "", const std::string& nvml = "libno-such-nvml.so.1") {
  ById by_id;
  for (Capability& capability : ProbeCapabilities(root, nvml)) {
    const std::string id = capability.id;
    EXPECT_EQ(by_id.count(id), 0U) << id << " twice";
    by_id.emplace(id, std::move(capability));
  }
  return by_id;
}

// Runs `body` in a forked child; it returns an empty string when all is well, else what is wrong.
void InChild(const std::function<std::string()>& body) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string wrong = body();
    const ssize_t written = write(pipe_fds[1], wrong.data(), wrong.size());
    _exit(wrong.empty() && written == 0 ? 0 : 1);
  }
  close(pipe_fds[1]);
  std::string wrong(4096, '\0');
  const ssize_t got = read(pipe_fds[0], wrong.data(), wrong.size());
  wrong.resize(got > 0 ? static_cast<size_t>(got) : 0);
  close(pipe_fds[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << wrong;
}

// From now on `number` fails with `error` in this process.
bool Deny(unsigned number, unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof program / sizeof program[0], program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

std::string ReasonNames(const ById& found, const std::string& id, const std::string& gate) {
  const auto at = found.find(id);
  if (at == found.end()) return "no entry " + id;
  if (at->second.available != Availability::kNo) return id + " is said to be available";
  if (at->second.reason.find(gate) == std::string::npos) return id + ": " + at->second.reason;
  return at->second.remedy.empty() ? id + " has no remedy" : "";
}

TEST(CapabilitiesTest, EveryGapHasAReasonAndNothingElseHas) {
  const ById found = Probe();
  for (const auto& [id, capability] : found) {
    EXPECT_FALSE(capability.what.empty()) << id;
    EXPECT_EQ(capability.available == Availability::kYes, capability.reason.empty()) << id;
    if (capability.available == Availability::kYes) {
      EXPECT_TRUE(capability.remedy.empty()) << id;
    }
  }
  for (const char* id : {"clock.source",      "clock.cost",   "cpu.thread_clock",  "cpu.affinity",
                         "cpu.quota",         "cpu.usable",   "cgroup.version",    "memory.limit",
                         "memory.peak_reset", "io.process",   "io.thread",         "perf.software",
                         "perf.hardware",     "ptrace.scope", "ptrace.capability", "ptrace.read_memory",
                         "delay.accounting",  "pressure.psi", "bandwidth.resctrl", "energy.powercap",
                         "gpu.nvml"}) {
    EXPECT_EQ(found.count(id), 1U) << id;
  }
}

TEST(CapabilitiesTest, NamesTheSeccompFilterThatRefusesCounters) {
  for (const int error : {EPERM, ENOSYS}) {
    InChild([error]() -> std::string {
      if (!Deny(SYS_perf_event_open, static_cast<unsigned>(error))) return "";  // no seccomp: nothing to refuse with
      const ById found = Probe();
      return ReasonNames(found, "perf.software", "seccomp") + ReasonNames(found, "perf.hardware", "seccomp");
    });
  }
}

TEST(CapabilitiesTest, NamesTheSeccompFilterThatRefusesToReadMemory) {
  InChild([]() -> std::string {
    if (!Deny(SYS_process_vm_readv, EPERM)) return "";
    return ReasonNames(Probe(), "ptrace.read_memory", "seccomp");
  });
}

TEST(CapabilitiesTest, NamesTheCounterSwitchToAnOrdinaryUser) {
  RecordedTree tree;
  tree.File("/proc/sys/kernel/perf_event_paranoid", "4\n").File("/proc/self/status", "CapEff:\t0000000000000000\n");
  InChild([&]() -> std::string {
    if (!Deny(SYS_perf_event_open, EACCES)) return "";
    return ReasonNames(Probe(tree.root()), "perf.software", "perf_event_paranoid is 4");
  });
}

TEST(CapabilitiesTest, WithoutPrivilegesNothingCrashesAndTheGateIsNamed) {
  InChild([]() -> std::string {
    if (geteuid() == 0 && setuid(65534) != 0) return "setuid failed";
    return ReasonNames(Probe(), "ptrace.capability", "CAP_SYS_PTRACE");
  });
}

TEST(CapabilitiesTest, AnEmptySystemMakesEveryFileAbsentWithItsName) {
  RecordedTree tree;
  const ById found = Probe(tree.root());
  EXPECT_EQ(ReasonNames(found, "io.process", "/proc/self/io"), "");
  EXPECT_EQ(ReasonNames(found, "io.thread", "/proc/thread-self/io"), "");
  EXPECT_EQ(ReasonNames(found, "delay.accounting", "task_delayacct"), "");
  EXPECT_EQ(ReasonNames(found, "pressure.psi", "/proc/pressure/cpu"), "");
  EXPECT_EQ(ReasonNames(found, "cpu.quota", "control group"), "");
  EXPECT_EQ(ReasonNames(found, "gpu.nvml", "libno-such-nvml.so.1"), "");
  EXPECT_EQ(found.at("memory.peak_reset").available, Availability::kPartly);
  EXPECT_NE(found.at("memory.peak_reset").reason.find("/proc/self/clear_refs"), std::string::npos);
}

TEST(CapabilitiesTest, ReadsWhatARecordedMachineOffers) {
  RecordedTree tree;
  tree.File("/proc/sys/kernel/yama/ptrace_scope", "1\n")
      .File("/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n")
      .File("/proc/sys/kernel/task_delayacct", "1\n")
      .File("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
      .File("/sys/fs/resctrl/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes\n")
      .File("/sys/class/powercap/intel-rapl:0/energy_uj", "123\n")
      .File("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  const ById found = Probe(tree.root());
  EXPECT_EQ(found.at("ptrace.scope").available, Availability::kPartly);
  EXPECT_EQ(found.at("delay.accounting").available, Availability::kYes);
  EXPECT_EQ(found.at("pressure.psi").available, Availability::kYes);
  EXPECT_EQ(found.at("bandwidth.resctrl").available, Availability::kYes);
  EXPECT_EQ(found.at("energy.powercap").available, Availability::kYes);
  EXPECT_EQ(found.at("clock.source").available, Availability::kPartly);
}

TEST(CapabilitiesTest, ShowsTheDevicesOfADriverThatIsThere) {
  const ById found = Probe("", WF_FAKE_NVML);
  EXPECT_EQ(found.at("gpu.nvml").available, Availability::kYes);
  EXPECT_EQ(found.at("gpu.nvml").evidence, "driver 999.1, 0: Fake GPU");
}

}  // namespace
}  // namespace wf::probe
