#include "cpython/line_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wf::cpython {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(LineTableTest, LnotabAddsUpAddressAndLine) {
  const auto table = Bytes({2, 1, 4, 2, 6, 0xFF});  // from 2: +1, from 6: +2, from 12: -1
  EXPECT_EQ(LineAt(table, 8, 10, 0), 10);
  EXPECT_EQ(LineAt(table, 9, 10, 2), 11);
  EXPECT_EQ(LineAt(table, 9, 10, 7), 13);
  EXPECT_EQ(LineAt(table, 9, 10, 100), 12);
}

TEST(LineTableTest, RangesOf310MayHaveNoLine) {
  const auto table = Bytes({4, 1, 4, 0x80, 2, 2});  // 0-4: +1, 4-8: none, 8-10: +2
  EXPECT_EQ(LineAt(table, 10, 10, 2), 11);
  EXPECT_EQ(LineAt(table, 10, 10, 6), std::nullopt);
  EXPECT_EQ(LineAt(table, 10, 10, 8), 13);
  EXPECT_EQ(LineAt(table, 10, 10, 10), std::nullopt);
}

TEST(LineTableTest, LocationsOfEachKind) {
  // short form, 2 units; one line, +1, 1 unit; long form, +3 lines, 1 unit; no columns, -2 lines, 1 unit; none, 1 unit
  const auto table = Bytes({0x81, 0x00, 0xD8, 1, 2, 0xF0, 6, 0, 1, 1, 0xE8, 5, 0xF8});
  EXPECT_EQ(LineAt(table, 11, 10, 0), 10);
  EXPECT_EQ(LineAt(table, 11, 10, 2), 10);
  EXPECT_EQ(LineAt(table, 12, 10, 4), 11);
  EXPECT_EQ(LineAt(table, 13, 10, 6), 14);
  EXPECT_EQ(LineAt(table, 14, 10, 8), 12);
  EXPECT_EQ(LineAt(table, 15, 10, 10), std::nullopt);
  EXPECT_EQ(LineAt(table, 15, 10, 12), std::nullopt);
}

TEST(LineTableTest, AFrameThatHasNotBegunIsAtTheFirstLine) {
  for (uint32_t minor = 8; minor <= 15; ++minor) EXPECT_EQ(LineAt({}, minor, 7, -2), 7);
}

TEST(LineTableTest, AnyBytesGiveAnAnswerWithinBounds) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> table(random() % 40);
    for (std::byte& byte : table) byte = static_cast<std::byte>(random());
    for (uint32_t minor = 8; minor <= 11; ++minor) {
      const auto line = LineAt(table, minor, static_cast<int32_t>(random() % 1000), random() % 200);
      EXPECT_GE(line.value_or(0), 0);
    }
  }
}

}  // namespace
}  // namespace wf::cpython
