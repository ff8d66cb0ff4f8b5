#include "native/unwind_row.h"

#include <dwarf.h>

namespace wf::native {
namespace {

constexpr size_t kDeepest = 64;

// The stack of an expression; any wrong use spoils it, which is asked for once, at the end.
class Operands {
 public:
  void Push(uint64_t value) {
    if (values_.size() >= kDeepest) {
      failed_ = true;
    } else {
      values_.push_back(value);
    }
  }
  uint64_t Pop() {
    if (values_.empty()) {
      failed_ = true;
      return 0;
    }
    const uint64_t value = values_.back();
    values_.pop_back();
    return value;
  }
  uint64_t Peek(size_t depth) {
    if (depth < values_.size()) return values_[values_.size() - 1 - depth];
    failed_ = true;
    return 0;
  }
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }

 private:
  std::vector<uint64_t> values_;
  bool failed_ = false;
};

bool ApplyConstant(const Operation& op, const Registers& registers, Operands& on) {
  if (op.code >= DW_OP_lit0 && op.code <= DW_OP_lit31) {
    on.Push(op.code - DW_OP_lit0);
    return true;
  }
  if (op.code >= DW_OP_breg0 && op.code <= DW_OP_breg31) {
    const size_t number = op.code - DW_OP_breg0;
    if (!registers.Has(number)) on.Fail();
    on.Push(registers.Get(number) + op.first);
    return true;
  }
  switch (op.code) {
    case DW_OP_bregx:
      if (!registers.Has(op.first)) on.Fail();
      on.Push(registers.Get(op.first) + op.second);
      return true;
    case DW_OP_addr:
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts: on.Push(op.first); return true;  // libdw has extended their signs
    default: return false;
  }
}

bool ApplyToStack(const Operation& op, Operands& on) {
  switch (op.code) {
    case DW_OP_nop: return true;
    case DW_OP_dup: on.Push(on.Peek(0)); return true;
    case DW_OP_over: on.Push(on.Peek(1)); return true;
    case DW_OP_pick: on.Push(on.Peek(op.first)); return true;
    case DW_OP_drop: on.Pop(); return true;
    case DW_OP_swap: {
      const uint64_t top = on.Pop();
      const uint64_t next = on.Pop();
      on.Push(top);
      on.Push(next);
      return true;
    }
    case DW_OP_neg: on.Push(0 - on.Pop()); return true;
    case DW_OP_not: on.Push(~on.Pop()); return true;
    case DW_OP_plus_uconst: on.Push(on.Pop() + op.first); return true;
    default: return false;
  }
}

std::optional<uint64_t> Arithmetic(uint8_t code, uint64_t a, uint64_t b) {
  const auto signed_a = static_cast<int64_t>(a);
  const auto signed_b = static_cast<int64_t>(b);
  switch (code) {
    case DW_OP_and: return a & b;
    case DW_OP_or: return a | b;
    case DW_OP_xor: return a ^ b;
    case DW_OP_plus: return a + b;
    case DW_OP_minus: return a - b;
    case DW_OP_mul: return a * b;
    case DW_OP_shl: return b < 64 ? a << b : 0;
    case DW_OP_shr: return b < 64 ? a >> b : 0;
    case DW_OP_shra: return static_cast<uint64_t>(signed_a >> (b < 64 ? b : 63));
    case DW_OP_eq: return a == b;
    case DW_OP_ne: return a != b;
    case DW_OP_ge: return signed_a >= signed_b;
    case DW_OP_gt: return signed_a > signed_b;
    case DW_OP_le: return signed_a <= signed_b;
    case DW_OP_lt: return signed_a < signed_b;
    default: return std::nullopt;
  }
}

void ApplyBinary(const Operation& op, Operands& on) {
  const uint64_t b = on.Pop();
  const uint64_t a = on.Pop();
  const auto value = Arithmetic(op.code, a, b);
  if (!value) on.Fail();
  on.Push(value.value_or(0));
}

void Dereference(size_t bytes, const ReadMemory& memory, Operands& on) {
  uint64_t value = 0;
  const uint64_t address = on.Pop();
  if (bytes == 0 || bytes > sizeof(value) || on.failed() || !memory(address, &value, bytes)) on.Fail();
  on.Push(value);
}

std::optional<uint64_t> Read(uint64_t address, const ReadMemory& memory) {
  uint64_t value = 0;
  if (!memory(address, &value, sizeof(value))) return std::nullopt;
  return value;
}

std::optional<uint64_t> CfaOf(const UnwindRow& row, const Registers& registers, const ReadMemory& memory) {
  if (row.cfa_is_expression) {
    return row.expressions.empty() ? std::nullopt : Evaluate(row.expressions[0], registers, memory, std::nullopt);
  }
  if (!registers.Has(row.cfa_register)) return std::nullopt;
  return registers.Get(row.cfa_register) + static_cast<uint64_t>(row.cfa_offset);
}

// The value of one register in the caller; nullopt: not known there.
std::optional<uint64_t> ValueOf(const UnwindRow& row, size_t number, const Registers& registers, uint64_t cfa,
                                const ReadMemory& memory) {
  using Kind = RegisterRule::Kind;
  const RegisterRule& rule = row.rules.at(number);
  const uint64_t offset = static_cast<uint64_t>(int64_t{rule.value});
  switch (rule.kind) {
    case Kind::kUndefined: return std::nullopt;
    case Kind::kSame: return registers.Has(number) ? std::optional(registers.Get(number)) : std::nullopt;
    case Kind::kAtCfa: return Read(cfa + offset, memory);
    case Kind::kIsCfa: return cfa + offset;
    case Kind::kRegister: return registers.Has(offset) ? std::optional(registers.Get(offset)) : std::nullopt;
    case Kind::kAtExpression:
    case Kind::kIsExpression: break;
  }
  if (offset >= row.expressions.size()) return std::nullopt;
  const auto value = Evaluate(row.expressions[offset], registers, memory, cfa);
  return value && rule.kind == Kind::kAtExpression ? Read(*value, memory) : value;
}

}  // namespace

std::optional<uint64_t> Evaluate(const Expression& expression, const Registers& registers, const ReadMemory& memory,
                                 std::optional<uint64_t> cfa) {
  Operands on;
  if (cfa) on.Push(*cfa);
  for (const Operation& op : expression) {
    if (op.code == DW_OP_call_frame_cfa && cfa) {
      on.Push(*cfa);
    } else if (op.code == DW_OP_deref || op.code == DW_OP_deref_size) {
      Dereference(op.code == DW_OP_deref ? sizeof(uint64_t) : op.first, memory, on);
    } else if (!ApplyConstant(op, registers, on) && !ApplyToStack(op, on)) {
      ApplyBinary(op, on);
    }
    if (on.failed()) return std::nullopt;
  }
  const uint64_t value = on.Pop();
  return on.failed() ? std::nullopt : std::optional(value);
}

std::optional<Caller> StepTo(const UnwindRow& row, const Registers& registers, const ReadMemory& memory) {
  const auto cfa = CfaOf(row, registers, memory);
  if (!cfa) return std::nullopt;
  Caller caller;
  caller.cfa = *cfa;
  caller.is_root = row.rules[kReturnAddress].kind == RegisterRule::Kind::kUndefined;
  for (size_t number = 0; number < Registers::kCount; ++number) {
    if (const auto value = ValueOf(row, number, registers, *cfa, memory)) caller.registers.Set(number, *value);
  }
  if (!caller.is_root && !caller.registers.Has(kReturnAddress)) return std::nullopt;
  return caller;
}

}  // namespace wf::native
