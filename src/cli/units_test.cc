#include "cli/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::cli {
namespace {

TEST(ParseDurationTest, UnitsAddUp) {
  EXPECT_EQ(ParseDuration("30s").value(), 30'000'000'000);
  EXPECT_EQ(ParseDuration("1h30m").value(), 5'400'000'000'000);
  EXPECT_EQ(ParseDuration("250ms").value(), 250'000'000);
  EXPECT_EQ(ParseDuration("1.5s").value(), 1'500'000'000);
  EXPECT_EQ(ParseDuration("7d").value(), 604'800'000'000'000);
}

TEST(ParseDurationTest, ABareNumberIsSeconds) {
  EXPECT_EQ(ParseDuration("5").value(), 5'000'000'000);
  EXPECT_EQ(ParseDuration("0").value(), 0);
}

TEST(ParseDurationTest, AnythingElseIsRefusedWithTheUnits) {
  for (const char* text : {"", "s", "-1s", "5 s", "5x", "1h30", "inf", "nan", "1e9s", "99999999999999999999w"}) {
    const Result<int64_t> value = ParseDuration(text);
    EXPECT_EQ(value.status().code(), Code::kInvalidArgument) << text;
    EXPECT_THAT(value.status().message(), testing::HasSubstr("30s, 5m")) << text;
  }
}

TEST(ParseSizeTest, KibAndKbDiffer) {
  EXPECT_EQ(ParseSize("2GiB").value(), int64_t{2} << 30);
  EXPECT_EQ(ParseSize("2G").value(), int64_t{2} << 30);
  EXPECT_EQ(ParseSize("2GB").value(), 2'000'000'000);
  EXPECT_EQ(ParseSize("4096").value(), 4096);
  EXPECT_EQ(ParseSize("0.5KiB").value(), 512);
}

TEST(ParseSizeTest, AnythingElseIsRefused) {
  for (const char* text : {"", "GiB", "-1", "5 GiB", "5 parsecs", "99999999999TiB"}) {
    EXPECT_EQ(ParseSize(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(ParseKeyValueTest, TheValueMayHoldEqualsSigns) {
  EXPECT_EQ(ParseKeyValue("--param", "a=b=c").value(), std::pair(std::string("a"), std::string("b=c")));
  EXPECT_EQ(ParseKeyValue("--param", "a=").value().second, "");
  EXPECT_FALSE(ParseKeyValue("--param", "=x").ok());
  EXPECT_FALSE(ParseKeyValue("--param", "x").ok());
}

TEST(Rate, NumbersAndUnits) {
  EXPECT_EQ(*ParseRate("100"), 100);
  EXPECT_EQ(*ParseRate("0.5"), 0.5);
  EXPECT_EQ(*ParseRate("250Hz"), 250);
  EXPECT_EQ(*ParseRate("2.5kHz"), 2500);
  EXPECT_EQ(*ParseRate("1MHz"), 1e6);
  for (const char* text : {"", "0", "-5", "1e9", "2MHz", "1m", "Hz", "10 Hz", "inf", "nan", "0.0001"}) {
    EXPECT_FALSE(ParseRate(text).ok()) << text;
  }
}

TEST(Pid, DecimalOrHexadecimal) {
  EXPECT_EQ(*ParsePid("1234"), 1234);
  EXPECT_EQ(*ParsePid("0x4d2"), 1234);
  for (const char* text : {"", "0", "-1", "0x", "12x", "99999999999"}) EXPECT_FALSE(ParsePid(text).ok()) << text;
}

}  // namespace
}  // namespace wf::cli
