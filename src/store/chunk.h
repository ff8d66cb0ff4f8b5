// Chunk: up to 65,536 rows as little columns, packed and compressed with zstd; the unit in which series, stacks, calls,
// allocs and ops lie in runs/<id>.db. Bytes: docs/formats/store.md, "Chunks".
//
//   offset  size
//   0       4     "WFCK"
//   4       1     version, 1
//   5       1     number of columns, 0 to 32
//   6       2     0
//   8       4     number of rows, little-endian
//   12      8*n   per column: encoding (1), 0 0 0, bytes before compression (4, little-endian)
//   …             one zstd frame with checksum: the columns one behind the other
//
// Decoding takes the bytes for hostile: sizes are checked before memory is taken, and any other input is kDataLoss.
#ifndef WF_STORE_CHUNK_H_
#define WF_STORE_CHUNK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wf/status.h"

namespace wf::store {

inline constexpr size_t kMaxChunkRows = 65'536;
inline constexpr size_t kMaxChunkColumns = 32;

// What a chunk is of; a column of the table `chunks`. Append, never renumber.
enum class ChunkKind : uint8_t {
  kSeries = 0,
  kStacks = 1,  // samples
  kCalls = 2,
  kAllocs = 3,
  kOps = 4,
  kStackFrames = 5,
  kStackNodes = 6,
};

enum class Encoding : uint8_t {
  kVarint = 1,  // LEB128 of the zigzag of each value: small numbers, ids
  kDelta = 2,   // the same of the difference to the row before: times, counters
  kInt64 = 3,   // 8 bytes each: hashes, addresses
  kDouble = 4,  // 8 bytes each
};

struct Column {
  Encoding encoding = Encoding::kVarint;
  std::vector<int64_t> ints;    // all encodings but kDouble
  std::vector<double> doubles;  // kDouble

  size_t rows() const { return encoding == Encoding::kDouble ? doubles.size() : ints.size(); }
};

// REQUIRES: 32 columns at most, 65,536 rows at most, the same number in each.
std::string EncodeChunk(const std::vector<Column>& columns);

Result<std::vector<Column>> DecodeChunk(std::string_view bytes);

}  // namespace wf::store

#endif  // WF_STORE_CHUNK_H_
