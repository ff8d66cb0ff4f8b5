#include "store/chunk.h"

#include <fmt/format.h>
#include <zstd.h>

#include <bit>
#include <cstring>
#include <memory>

#include "base/check.h"

namespace wf::store {
namespace {

constexpr std::string_view kMagic = "WFCK";
constexpr uint8_t kVersion = 1;
constexpr size_t kHeaderBytes = 12;
constexpr size_t kColumnHeaderBytes = 8;
constexpr size_t kMaxVarintBytes = 10;
constexpr int kCompressionLevel = 1;

void AppendU32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

uint32_t ReadU32(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

void AppendU64(std::string& out, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
}

uint64_t ReadU64(std::string_view bytes, size_t at) {
  return ReadU32(bytes, at) | uint64_t{ReadU32(bytes, at + 4)} << 32;
}

uint64_t ZigZag(int64_t value) { return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63); }
int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Moves `at` behind the number; false when it runs past the end or over 64 bits.
bool ReadVarint(std::string_view bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at >= bytes.size()) return false;
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    if (shift == 63 && byte > 1) return false;
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

std::string EncodeColumn(const Column& column) {
  std::string out;
  out.reserve(column.rows() * 2);
  uint64_t previous = 0;
  switch (column.encoding) {
    case Encoding::kVarint:
      for (const int64_t value : column.ints) AppendVarint(out, ZigZag(value));
      break;
    case Encoding::kDelta:
      for (const int64_t value : column.ints) {
        // Unsigned, so that the difference of extremes wraps instead of overflowing.
        AppendVarint(out, ZigZag(static_cast<int64_t>(static_cast<uint64_t>(value) - previous)));
        previous = static_cast<uint64_t>(value);
      }
      break;
    case Encoding::kInt64:
      for (const int64_t value : column.ints) AppendU64(out, static_cast<uint64_t>(value));
      break;
    case Encoding::kDouble:
      for (const double value : column.doubles) AppendU64(out, std::bit_cast<uint64_t>(value));
      break;
  }
  return out;
}

// False when `bytes` are not exactly `rows` values.
bool DecodeColumn(std::string_view bytes, size_t rows, Column& column) {
  if (column.encoding == Encoding::kDouble || column.encoding == Encoding::kInt64) {
    if (bytes.size() != rows * 8) return false;
    for (size_t at = 0; at < bytes.size(); at += 8) {
      const uint64_t value = ReadU64(bytes, at);
      if (column.encoding == Encoding::kDouble) {
        column.doubles.push_back(std::bit_cast<double>(value));
      } else {
        column.ints.push_back(static_cast<int64_t>(value));
      }
    }
    return true;
  }
  size_t at = 0;
  uint64_t previous = 0;
  for (size_t row = 0; row < rows; ++row) {
    uint64_t raw = 0;
    if (!ReadVarint(bytes, at, raw)) return false;
    const auto value = static_cast<uint64_t>(UnZigZag(raw)) + (column.encoding == Encoding::kDelta ? previous : 0);
    column.ints.push_back(static_cast<int64_t>(value));
    previous = value;
  }
  return at == bytes.size();
}

struct ColumnHeader {
  Encoding encoding;
  size_t bytes;
};

struct Header {
  size_t rows = 0;
  size_t total = 0;  // bytes of all columns before compression
  std::vector<ColumnHeader> columns;
};

Status Damaged(std::string_view why) {
  return {Code::kDataLoss,
          fmt::format("a chunk of the run's file is damaged ({}); the other chunks can still be read", why)};
}

Result<Header> DecodeHeader(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return Damaged("no chunk header");
  if (static_cast<uint8_t>(bytes[4]) != kVersion) return Damaged("unknown version");
  Header header;
  const size_t count = static_cast<uint8_t>(bytes[5]);
  header.rows = ReadU32(bytes, 8);
  if (count > kMaxChunkColumns || header.rows > kMaxChunkRows) return Damaged("too large");
  if (bytes.size() < kHeaderBytes + count * kColumnHeaderBytes) return Damaged("cut off");
  for (size_t i = 0; i < count; ++i) {
    const size_t at = kHeaderBytes + i * kColumnHeaderBytes;
    const auto encoding = static_cast<uint8_t>(bytes[at]);
    const size_t size = ReadU32(bytes, at + 4);
    if (encoding < 1 || encoding > 4) return Damaged("unknown encoding");
    if (size > header.rows * kMaxVarintBytes) return Damaged("column too large");
    header.columns.push_back({static_cast<Encoding>(encoding), size});
    header.total += size;
  }
  return header;
}

// A context per thread: making one costs more than compressing a small chunk.
ZSTD_CCtx* Compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  return context.get();
}

}  // namespace

std::string EncodeChunk(const std::vector<Column>& columns) {
  const size_t rows = columns.empty() ? 0 : columns.front().rows();
  WF_CHECK(columns.size() <= kMaxChunkColumns && rows <= kMaxChunkRows);
  std::string out(kMagic);
  out += static_cast<char>(kVersion);
  out += static_cast<char>(columns.size());
  out.append(2, '\0');
  AppendU32(out, static_cast<uint32_t>(rows));
  std::string body;
  for (const Column& column : columns) {
    WF_CHECK(column.rows() == rows);
    const std::string encoded = EncodeColumn(column);
    out += static_cast<char>(column.encoding);
    out.append(3, '\0');
    AppendU32(out, static_cast<uint32_t>(encoded.size()));
    body += encoded;
  }
  ZSTD_CCtx* const context = Compressor();
  WF_CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const size_t head = out.size();
  out.resize(head + ZSTD_compressBound(body.size()));
  const size_t size = ZSTD_compress2(context, out.data() + head, out.size() - head, body.data(), body.size());
  WF_CHECK(ZSTD_isError(size) == 0);
  out.resize(head + size);
  return out;
}

Result<std::vector<Column>> DecodeChunk(std::string_view bytes) {
  const Result<Header> header = DecodeHeader(bytes);
  if (!header.ok()) return header.status();
  const std::string_view frame = bytes.substr(kHeaderBytes + header->columns.size() * kColumnHeaderBytes);
  std::string body(header->total, '\0');
  const size_t size = ZSTD_decompress(body.data(), body.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) return Damaged(ZSTD_getErrorName(size));
  if (size != header->total) return Damaged("wrong size");
  std::vector<Column> columns;
  std::string_view rest = body;
  for (const ColumnHeader& each : header->columns) {
    Column& column = columns.emplace_back();
    column.encoding = each.encoding;
    if (!DecodeColumn(rest.substr(0, each.bytes), header->rows, column)) return Damaged("wrong number of values");
    rest.remove_prefix(each.bytes);
  }
  return columns;
}

}  // namespace wf::store
