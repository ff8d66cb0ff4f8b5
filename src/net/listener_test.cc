#include "net/listener.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

namespace wf::net {
namespace {

using ::testing::HasSubstr;

TEST(ListenerTest, PortZeroGivesTheRealPort) {
  const Result<Listener> listener = Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_GT(listener.value().port, 0);
  EXPECT_TRUE(listener.value().loopback);
  EXPECT_EQ(listener.value().address, "127.0.0.1");
}

TEST(ListenerTest, SecondBindFailsAndNamesPortAndOwner) {
  Result<Listener> first = Listen("localhost", 0);
  ASSERT_TRUE(first.ok());
  const Status second = Listen("127.0.0.1", first->port).status();
  EXPECT_EQ(second.code(), Code::kAlreadyExists);
  EXPECT_THAT(second.message(), HasSubstr("port " + std::to_string(first->port) + " is in use"));
  EXPECT_THAT(second.message(), HasSubstr("pid " + std::to_string(getpid())));
}

TEST(ListenerTest, PortIsFreeAgainAtOnce) {
  int port = 0;
  {
    Result<Listener> first = Listen("127.0.0.1", 0);
    ASSERT_TRUE(first.ok());
    port = first->port;
  }
  EXPECT_TRUE(Listen("127.0.0.1", port).ok());
}

TEST(ListenerTest, RefusesWhatIsNoAddressOfThisMachine) {
  EXPECT_EQ(Listen("no such host.invalid", 0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Listen("127.0.0.1", 70000).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Listen("192.0.2.1", 0).status().code(), Code::kIo);
}

TEST(ListenerTest, KnowsWhatOthersCanReach) {
  EXPECT_FALSE(Listen("0.0.0.0", 0).value().loopback);
  EXPECT_TRUE(Listen("127.1.2.3", 0).value().loopback);
  EXPECT_EQ(HostAndPort("::1", 80), "[::1]:80");
}

}  // namespace
}  // namespace wf::net
