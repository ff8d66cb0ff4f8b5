// ProtobufWriter: the three kinds of fields that pprof needs, in protobuf's wire format
// (https://protobuf.dev/programming-guides/encoding): a key of (number << 3 | type), then a varint or bytes with
// length.
#ifndef WF_PROFILE_PROTOBUF_WRITER_H_
#define WF_PROFILE_PROTOBUF_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wf::profile {

class ProtobufWriter {
 public:
  // A field that is 0 is left out, as proto3 does.
  void Number(uint32_t field, int64_t value) {
    if (value == 0) return;
    Varint(field << 3 | kVarint);
    Varint(static_cast<uint64_t>(value));
  }
  // Also when it is empty: in a repeated field it counts.
  void Bytes(uint32_t field, std::string_view bytes) {
    Varint(field << 3 | kLengthDelimited);
    Varint(bytes.size());
    bytes_ += bytes;
  }
  void Message(uint32_t field, const ProtobufWriter& message) { Bytes(field, message.bytes_); }
  void Packed(uint32_t field, const std::vector<int64_t>& values) {
    ProtobufWriter packed;
    for (const int64_t value : values) packed.Varint(static_cast<uint64_t>(value));
    Message(field, packed);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType : uint32_t { kVarint = 0, kLengthDelimited = 2 };
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_PROTOBUF_WRITER_H_
