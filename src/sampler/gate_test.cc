#include "sampler/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace wf::sampler {
namespace {

using testing::HasSubstr;
using testing::Not;

GateFacts Ordinary() {
  GateFacts facts;
  facts.our_uid = 1000;
  facts.target.uid = 1000;
  facts.target.name = "python3";
  return facts;
}

std::string Said(const GateFacts& facts) {
  const Status status = Refusal(7, facts);
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("process 7 (python3) cannot be read: "));
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  return status.message();
}

TEST(GateTest, AnotherUser) {
  GateFacts facts = Ordinary();
  facts.target.uid = 33;
  EXPECT_THAT(Said(facts), HasSubstr("belongs to user id 33 and wf runs as 1000"));
  EXPECT_THAT(Said(facts), HasSubstr("run wf with sudo"));
}

TEST(GateTest, YamaByItsLevel) {
  GateFacts facts = Ordinary();
  facts.yama = 1;
  EXPECT_THAT(Said(facts), HasSubstr("ptrace_scope is 1"));
  EXPECT_THAT(Said(facts), HasSubstr("sysctl kernel.yama.ptrace_scope=0"));
  facts.yama = 2;
  EXPECT_THAT(Said(facts), HasSubstr("ptrace_scope is 2"));
  facts.yama = 3;
  EXPECT_THAT(Said(facts), HasSubstr("until the next boot"));
}

TEST(GateTest, NonDumpable) {
  GateFacts facts = Ordinary();
  facts.dumpable = false;
  facts.yama = 1;  // opening this gate alone would not help
  EXPECT_THAT(Said(facts), HasSubstr("non-dumpable"));
}

TEST(GateTest, MoreCapabilitiesThanOurs) {
  GateFacts facts = Ordinary();
  facts.target.permitted = 1;
  EXPECT_THAT(Said(facts), HasSubstr("capabilities that wf lacks"));
}

TEST(GateTest, OurOwnSeccompFilter) {
  GateFacts facts = Ordinary();
  facts.can_read_itself = false;
  EXPECT_THAT(Said(facts), HasSubstr("seccomp"));
}

TEST(GateTest, RootAndContainersAreNotToldToUseSudo) {
  for (const bool container : {false, true}) {
    GateFacts facts = Ordinary();
    facts.container = container;
    facts.our_uid = container ? 1000 : 0;
    for (const int yama : {0, 1, 2, 3}) {
      facts.yama = yama;
      EXPECT_THAT(Said(facts), Not(HasSubstr("sudo")));
    }
    facts.yama = 2;
    EXPECT_THAT(Said(facts), HasSubstr("--cap-add SYS_PTRACE"));
    EXPECT_THAT(Said(facts), HasSubstr("Kubernetes"));
  }
}

TEST(GateTest, EvenTheRightMayNotBeEnough) {
  GateFacts facts = Ordinary();
  facts.has_ptrace_right = true;
  EXPECT_THAT(Said(facts), HasSubstr("outer user namespace"));
}

TEST(GateTest, WhatIsNoProcessToRead) {
  EXPECT_EQ(CheckProcess(7, std::nullopt).code(), Code::kNotFound);
  ProcessStatus status;
  status.state = 'Z';
  EXPECT_THAT(CheckProcess(7, status).message(), HasSubstr("zombie"));
  status.state = 'S';
  EXPECT_TRUE(CheckProcess(7, status).ok());
  status.kernel_thread = true;
  EXPECT_THAT(CheckProcess(7, status).message(), HasSubstr("thread of the kernel"));
}

TEST(GateTest, FactsOfOurselves) {
  const auto status = ReadStatus(getpid());
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->uid, geteuid());
  EXPECT_FALSE(status->kernel_thread);
  EXPECT_EQ(status->ns_pids.back(), getpid());
  const GateFacts facts = ReadGateFacts(getpid(), *status);
  EXPECT_TRUE(facts.can_read_itself);
  EXPECT_TRUE(facts.dumpable);
}

TEST(ModulesTest, OnlyTheBeginningOfFilesAndPythonFirst) {
  const auto modules = ModulesIn(
      "00400000-00401000 r--p 00000000 08:01 11 /usr/bin/renamed program\n"
      "00401000-00500000 r-xp 00001000 08:01 11 /usr/bin/renamed program\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r--p 00000000 08:01 12 /usr/lib/libc.so.6\n"
      "7f0000004000-7f0000005000 r--p 00000000 08:01 13 /usr/lib/libpython3.9.so.1.0 (deleted)\n"
      "7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0 [stack]\n"
      "nonsense\n\n- \n");
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].base, 0x7f0000004000u);
  EXPECT_EQ(modules[1].path, "/usr/bin/renamed program");
  EXPECT_EQ(modules[2].path, "/usr/lib/libc.so.6");
}

}  // namespace
}  // namespace wf::sampler
