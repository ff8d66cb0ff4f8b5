// MarshalWriter: Python's marshal, as far as pstats needs it (CPython, Python/marshal.c: w_object; these types are the
// same in every version of the format since Python 2). A letter for the type, then little-endian numbers.
#ifndef WF_PROFILE_MARSHAL_WRITER_H_
#define WF_PROFILE_MARSHAL_WRITER_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace wf::profile {

class MarshalWriter {
 public:
  // Followed by key, value, key, value, …
  void BeginDict() { bytes_ += '{'; }
  void EndDict() { bytes_ += '0'; }
  // Followed by so many items.
  void BeginTuple(uint32_t items) {
    bytes_ += '(';
    Append(items, 4);
  }
  void Text(std::string_view utf8) {
    bytes_ += 'u';
    Append(utf8.size(), 4);
    bytes_ += utf8;
  }
  void Float(double value) {
    bytes_ += 'g';
    Append(std::bit_cast<uint64_t>(value), 8);
  }
  // Above 31 bits an int is a count of digits and digits of 15 bits, the lowest first.
  void Int(uint64_t value) {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
      bytes_ += 'i';
      Append(value, 4);
      return;
    }
    uint32_t digits = 0;
    for (uint64_t rest = value; rest != 0; rest >>= 15) ++digits;
    bytes_ += 'l';
    Append(digits, 4);
    for (; value != 0; value >>= 15) Append(value & 0x7FFF, 2);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Append(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_MARSHAL_WRITER_H_
