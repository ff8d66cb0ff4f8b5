// UnwindRow: how to get from a frame to its caller, for a range of addresses of one file: the call frame information of
// DWARF (section 6.4 of its version 5) in a form that costs nothing to apply again and again.
#ifndef WF_NATIVE_UNWIND_ROW_H_
#define WF_NATIVE_UNWIND_ROW_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/memory.h"
#include "native/registers.h"

namespace wf::native {

// One step of a DWARF expression; jumps are not taken over, so that each ends.
struct Operation {
  uint8_t code = 0;
  uint64_t first = 0;
  uint64_t second = 0;
};
using Expression = std::vector<Operation>;

struct RegisterRule {
  enum class Kind : uint8_t {
    kUndefined,
    kSame,
    kAtCfa,         // in memory at CFA + value
    kIsCfa,         // CFA + value itself
    kRegister,      // in register number `value`
    kAtExpression,  // in memory where expressions[value] says
    kIsExpression,  // what expressions[value] says
  };
  Kind kind = Kind::kUndefined;
  int32_t value = 0;
};

struct UnwindRow {
  uint64_t begin = 0;  // of the addresses in the file for which it holds
  uint64_t end = 0;
  bool is_known = false;   // false: the file has nothing on these addresses
  bool is_signal = false;  // the frame below a signal handler: its caller was interrupted, and made no call
  // The CFA (the stack pointer before the call) is a register plus an offset, or expressions[0].
  bool cfa_is_expression = false;
  uint16_t cfa_register = 0;
  int64_t cfa_offset = 0;
  std::array<RegisterRule, Registers::kCount> rules{};
  std::vector<Expression> expressions;
};

struct Caller {
  Registers registers;
  uint64_t cfa = 0;
  bool is_root = false;  // the row says that nobody called
};

// nullopt when memory or a register that it takes is not to be had. REQUIRES: row.is_known.
std::optional<Caller> StepTo(const UnwindRow& row, const Registers& registers, const ReadMemory& memory);

// The value of an expression that starts with `cfa` on its stack, if given. nullopt when it is malformed or asks for
// what is not there.
std::optional<uint64_t> Evaluate(const Expression& expression, const Registers& registers, const ReadMemory& memory,
                                 std::optional<uint64_t> cfa);

}  // namespace wf::native

#endif  // WF_NATIVE_UNWIND_ROW_H_
