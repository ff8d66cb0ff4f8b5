#include "store/chunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "store/test_support.h"

namespace wf::store {
namespace {

using ::testing::ElementsAreArray;

Column Ints(Encoding encoding, std::vector<int64_t> values) { return {encoding, std::move(values), {}}; }
Column Doubles(std::vector<double> values) { return {Encoding::kDouble, {}, std::move(values)}; }

std::vector<Column> SampleChunk(size_t rows) {
  std::mt19937_64 random(rows);
  std::vector<Column> columns = {Ints(Encoding::kVarint, {}), Ints(Encoding::kDelta, {}), Ints(Encoding::kInt64, {}),
                                 Doubles({})};
  for (size_t row = 0; row < rows; ++row) {
    columns[0].ints.push_back(static_cast<int64_t>(row % 7));
    columns[1].ints.push_back(static_cast<int64_t>(row * 1'000'000 + random() % 1000));
    columns[2].ints.push_back(static_cast<int64_t>(random()));
    columns[3].doubles.push_back(static_cast<double>(row) / 3);
  }
  return columns;
}

void ExpectSame(const std::vector<Column>& a, const std::vector<Column>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].encoding, b[i].encoding);
    EXPECT_EQ(a[i].ints, b[i].ints);
    EXPECT_THAT(a[i].doubles, ElementsAreArray(b[i].doubles));
  }
}

TEST(Chunk, ColumnsOfEveryEncodingComeBack) {
  for (const size_t rows : {size_t{0}, size_t{1}, size_t{2}, size_t{1000}, kMaxChunkRows}) {
    const std::vector<Column> columns = SampleChunk(rows);
    const Result<std::vector<Column>> decoded = DecodeChunk(EncodeChunk(columns));
    ASSERT_TRUE(IsOk(decoded.status())) << rows;
    ExpectSame(*decoded, columns);
  }
  EXPECT_TRUE(DecodeChunk(EncodeChunk({})).ok());
}

TEST(Chunk, ExtremeNumbersSurviveInEveryIntegerEncoding) {
  const std::vector<int64_t> extremes = {
      std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), 0, -1, 1,
      std::numeric_limits<int64_t>::min()};
  for (const Encoding encoding : {Encoding::kVarint, Encoding::kDelta, Encoding::kInt64}) {
    const Result<std::vector<Column>> decoded = DecodeChunk(EncodeChunk({Ints(encoding, extremes)}));
    ASSERT_TRUE(IsOk(decoded.status()));
    EXPECT_EQ((*decoded)[0].ints, extremes);
  }
  const Result<std::vector<Column>> decoded =
      DecodeChunk(EncodeChunk({Doubles({-0.0, std::numeric_limits<double>::infinity(), std::nan("")})}));
  ASSERT_TRUE(IsOk(decoded.status()));
  EXPECT_TRUE(std::signbit((*decoded)[0].doubles[0]));
  EXPECT_TRUE(std::isnan((*decoded)[0].doubles[2]));
}

TEST(Chunk, TheExampleOfTheDocumentationHasTheseBytes) {
  const std::string bytes = EncodeChunk({Ints(Encoding::kDelta, {1000, 1010, 1020}), Doubles({0.5, 0.5, 1.0})});
  EXPECT_EQ(bytes.substr(0, 4), "WFCK");
  EXPECT_EQ(bytes.substr(4, 8), std::string("\x01\x02\0\0\x03\0\0\0", 8));
  EXPECT_EQ(bytes.substr(12, 8), std::string("\x02\0\0\0\x04\0\0\0", 8));
  EXPECT_EQ(bytes.substr(20, 8), std::string("\x04\0\0\0\x18\0\0\0", 8));
  EXPECT_EQ(bytes.substr(28, 4), "\x28\xB5\x2F\xFD");
}

TEST(Chunk, SlowSeriesTakeFewBytesARow) {
  std::vector<Column> columns = {Ints(Encoding::kDelta, {}), Ints(Encoding::kVarint, {})};
  for (int64_t row = 0; row < 10'000; ++row) {
    columns[0].ints.push_back(row * 100'000'000);
    columns[1].ints.push_back(3);
  }
  EXPECT_LT(EncodeChunk(columns).size(), 2'000U);
}

TEST(Chunk, MutatedBytesAreRefusedOrReadButNeverHarm) {
  const std::string whole = EncodeChunk(SampleChunk(300));
  std::mt19937 random(7);
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = whole;
    const size_t changes = 1 + random() % 4;
    // Half of the changes hit the header, where the sizes are.
    for (size_t change = 0; change < changes; ++change) {
      bytes[random() % (i % 2 == 0 ? 44 : bytes.size())] = static_cast<char>(random());
    }
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    if (i % 7 == 0) bytes += "trailing";
    const Result<std::vector<Column>> decoded = DecodeChunk(bytes);
    if (!decoded.ok()) {
      EXPECT_EQ(decoded.status().code(), Code::kDataLoss);
      continue;
    }
    for (const Column& column : *decoded) EXPECT_LE(column.rows(), kMaxChunkRows);
  }
}

TEST(Chunk, AFrameThatClaimsToBeHugeTakesNoMemory) {
  // The header says 10 bytes of one column, the frame holds a megabyte of zeros.
  std::string big = EncodeChunk({Ints(Encoding::kInt64, std::vector<int64_t>(60'000, 0))});
  big[8] = 1;  // rows
  big[9] = big[10] = 0;
  big[16] = 8;  // bytes of the column
  big[17] = big[18] = 0;
  const Result<std::vector<Column>> decoded = DecodeChunk(big);
  EXPECT_EQ(decoded.status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace wf::store
