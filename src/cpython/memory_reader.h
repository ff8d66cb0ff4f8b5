// MemoryReader: how this room sees the memory of a target. It asks for bytes and is given them; it never opens a
// process. src/sampler reads a live process, tests read recorded memory (recorded_memory_testing.h).
//
// What comes back is hostile: it belongs to a program that runs on, or that wants to harm us.
#ifndef WF_CPYTHON_MEMORY_READER_H_
#define WF_CPYTHON_MEMORY_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace wf::cpython {

struct Segment {
  uint64_t address = 0;
  void* into = nullptr;
  size_t bytes = 0;
  bool ok = false;  // set by Read: all of it was read
};

class MemoryReader {
 public:
  virtual ~MemoryReader() = default;

  // Reads all segments, in this order and with as few system calls as it can; a segment that cannot be read spoils only
  // itself. Sets `ok` of each; of an empty one, true.
  virtual void Read(std::span<Segment> segments) = 0;

  bool ReadOne(uint64_t address, void* into, size_t bytes) {
    Segment segment{address, into, bytes};
    Read({&segment, 1});
    return segment.ok;
  }

  template <typename T>
  std::optional<T> Get(uint64_t address) {
    T value{};
    if (!ReadOne(address, &value, sizeof(value))) return std::nullopt;
    return value;
  }
};

// A field of an object that was copied; zero when it does not lie within the copy.
template <typename T>
T FieldAt(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset) {
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
  }
  return value;
}

// A user-space pointer that an object can lie at: 8-byte aligned, neither in the first page nor in the kernel's half.
constexpr bool IsPlausiblePointer(uint64_t address) {
  return address >= 4096 && address < (uint64_t{1} << 47) && address % 8 == 0;
}

}  // namespace wf::cpython

#endif  // WF_CPYTHON_MEMORY_READER_H_
