// Registers: what a stack is unwound from, numbered as DWARF does (System V ABI for x86-64, figure 3.36).
#ifndef WF_NATIVE_REGISTERS_H_
#define WF_NATIVE_REGISTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace wf::native {

inline constexpr size_t kFramePointer = 6;    // rbp
inline constexpr size_t kStackPointer = 7;    // rsp
inline constexpr size_t kReturnAddress = 16;  // of the frame itself: where it runs

class Registers {
 public:
  static constexpr size_t kCount = 17;

  bool Has(size_t number) const { return number < kCount && (known_ >> number & 1) != 0; }
  // 0 when it is not known.
  uint64_t Get(size_t number) const { return Has(number) ? values_[number] : 0; }
  // REQUIRES: number < kCount.
  void Set(size_t number, uint64_t value) {
    values_[number] = value;
    known_ |= 1U << number;
  }

  bool operator==(const Registers&) const = default;

  uint64_t pc() const { return Get(kReturnAddress); }
  uint64_t sp() const { return Get(kStackPointer); }

 private:
  std::array<uint64_t, kCount> values_{};
  uint32_t known_ = 0;
};

}  // namespace wf::native

#endif  // WF_NATIVE_REGISTERS_H_
