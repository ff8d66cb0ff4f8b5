// What every fuzzer of a parser of foreign bytes is made of. A file x_fuzzer.cc defines both functions below; its room
// names it under FUZZERS (cmake/WfRoom.cmake). Built in two ways:
//
//   with fuzzer_driver_testing.cc     by each preset, as a test: the seeds, then the same mutations of them every time
//   with fuzzer_libfuzzer_testing.cc  by preset `fuzz` (clang): libFuzzer looks for new inputs; tools/fuzz runs it
//
// An input is wrong when it crashes, trips a sanitizer or a WF_CHECK of the fuzzer, or takes too long.
#ifndef WF_BASE_FUZZER_TESTING_H_
#define WF_BASE_FUZZER_TESTING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Takes any bytes; always 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace wf::base {

// Inputs that are as the parser wants them, or nearly so.
std::vector<std::string> FuzzerSeeds();

// Takes values from the front of an input; zeros once it is at its end.
class FuzzerInput {
 public:
  FuzzerInput(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  template <typename T>
  T Take() {
    T value{};
    const std::string_view bytes = TakeBytes(sizeof(T));
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  // Fewer at the end.
  std::string_view TakeBytes(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

template <typename T>
std::string FuzzerBytes(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace wf::base

#endif  // WF_BASE_FUZZER_TESTING_H_
