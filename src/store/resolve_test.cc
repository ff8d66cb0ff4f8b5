#include "store/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/folder.h"
#include "store/lost_run.h"

namespace wf::store {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunName Named(std::string_view text, const char* workflow = "training") {
  return {*base::RunId::Parse(text), workflow};
}

const std::vector<RunName>& Runs() {
  // Newest first, as the store gives them.
  static const std::vector<RunName> runs = {Named("01JE0000000000000000000AAA"), Named("01JD0000000000000000000BBB"),
                                            Named("01JC0000000000000000000ABB", "etl")};
  return runs;
}

TEST(Resolve, WholeIdsUniqueBeginningsAndEndingsAreFoundInEitherCase) {
  EXPECT_EQ(*ResolveAmong(Runs(), "01JD0000000000000000000BBB"), Runs()[1].id);
  EXPECT_EQ(*ResolveAmong(Runs(), "01je"), Runs()[0].id);
  EXPECT_EQ(*ResolveAmong(Runs(), "0abb"), Runs()[2].id);
}

TEST(Resolve, LastCountsBackFromTheNewest) {
  EXPECT_EQ(*ResolveAmong(Runs(), "last"), Runs()[0].id);
  EXPECT_EQ(*ResolveAmong(Runs(), "last~0"), Runs()[0].id);
  EXPECT_EQ(*ResolveAmong(Runs(), "last~2"), Runs()[2].id);
  const Status status = ResolveAmong(Runs(), "last~3").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("the oldest is last~2"));
  for (const char* text : {"last~", "last~x", "last~-1", "last~99999999999999999999", "lastly"}) {
    EXPECT_EQ(ResolveAmong(Runs(), text).status().code(), Code::kNotFound) << text;
  }
}

TEST(Resolve, SeveralMatchesAreNamed) {
  const Status status = ResolveAmong(Runs(), "01J").status();
  EXPECT_THAT(status.message(), HasSubstr("too short"));
  const std::vector<RunName> alike = {Named("01JE0000000000000000000AAA"), Named("01JE0000000000000000000BBB", "etl")};
  const Status both = ResolveAmong(alike, "01JE").status();
  EXPECT_EQ(both.code(), Code::kInvalidArgument);
  EXPECT_THAT(both.message(), HasSubstr("fits 2 runs"));
  EXPECT_THAT(both.message(), HasSubstr("01JE0000000000000000000BBB (etl)"));
}

TEST(Resolve, NoMatchNamesWhatIsNear) {
  const Status status = ResolveAmong(Runs(), "01JCZZZZ").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("near it: 01JC0000000000000000000ABB (etl)"));
  EXPECT_THAT(ResolveAmong({}, "last").status().message(), HasSubstr("no runs yet"));
}

TEST(NetworkFileSystem, IsKnownByItsMagicAndFuseByItsProgram) {
  EXPECT_EQ(NetworkName(0x6969, ""), "NFS");
  EXPECT_EQ(NetworkName(0xFF534D42, ""), "CIFS");
  EXPECT_EQ(NetworkName(0x01021997, ""), "9p");
  EXPECT_EQ(NetworkName(0x65735546, "fuse.sshfs"), "sshfs");
  EXPECT_EQ(NetworkName(0x65735546, "fuse.gocryptfs"), std::nullopt);
  EXPECT_EQ(NetworkName(0x65735546, "virtiofs"), std::nullopt);
  EXPECT_EQ(NetworkName(0xEF53, "ext4"), std::nullopt);
}

RunRow RunningRow() {
  RunRow row;
  row.owner.pid = 1234;
  row.owner.host = "far";
  row.heartbeat_wall_ns = 1'000'000'000'000;
  return row;
}

TEST(LostRun, IsJudgedByItsOwnerAndSaysWhy) {
  const RunRow row = RunningRow();
  const int64_t soon = row.heartbeat_wall_ns + 1'000'000'000;
  const int64_t late = row.heartbeat_wall_ns + 90'000'000'000;
  EXPECT_THAT(WhyLost(row, base::Liveness::kAlive, late), IsEmpty());
  EXPECT_EQ(WhyLost(row, base::Liveness::kDead, soon), "owner process 1234 ended without closing the run");
  EXPECT_THAT(WhyLost(row, base::Liveness::kRebooted, soon), HasSubstr("restarted"));
  EXPECT_THAT(WhyLost(row, base::Liveness::kUnknown, soon), IsEmpty());
  EXPECT_EQ(WhyLost(row, base::Liveness::kUnknown, late),
            "owner process 1234 on far has given no sign of life for 90 s");
}

TEST(LostRun, AFinishedRunIsNeverLostAndAClosedOneWithoutStateAlways) {
  RunRow row = RunningRow();
  row.closed = true;
  EXPECT_THAT(WhyLost(row, base::Liveness::kAlive, row.heartbeat_wall_ns),
              HasSubstr("without giving it a final state"));
  row.run.state = base::RunState::kSuccess;
  EXPECT_THAT(WhyLost(row, base::Liveness::kDead, row.heartbeat_wall_ns), IsEmpty());
}

}  // namespace
}  // namespace wf::store
