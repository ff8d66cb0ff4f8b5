// Unwinding over hostile registers, stacks and rules: each row ends, each stack is bounded, and its end has a reason.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "native/unwinder.h"

namespace wf::native {
namespace {

constexpr uint64_t kStack = 0x7000'0000;
constexpr uint64_t kCode = 0x40'0000;
constexpr size_t kMostFrames = 300;

Registers TakeRegisters(base::FuzzerInput& input) {
  Registers registers;
  const auto known = input.Take<uint32_t>();
  for (size_t i = 0; i < Registers::kCount; ++i) {
    if ((known >> i & 1) == 0) continue;
    const auto value = input.Take<uint16_t>();
    registers.Set(i, value < 0xF000 ? kStack + value : value < 0xF800 ? kCode + value : input.Take<uint64_t>());
  }
  return registers;
}

Expression TakeExpression(base::FuzzerInput& input) {
  Expression expression(input.Take<uint8_t>() % 80);
  for (Operation& operation : expression) {
    operation.code = input.Take<uint8_t>();
    operation.first = input.Take<uint16_t>();
    operation.second = input.Take<uint8_t>();
    if (operation.first == 0xFFFF) operation.first = input.Take<uint64_t>();
  }
  return expression;
}

UnwindRow TakeRow(base::FuzzerInput& input) {
  UnwindRow row;
  row.is_known = true;
  row.cfa_is_expression = input.Take<uint8_t>() % 4 == 0;
  row.cfa_register = input.Take<uint8_t>() % 24;
  row.cfa_offset = input.Take<int16_t>();
  for (RegisterRule& rule : row.rules) {
    rule.kind = static_cast<RegisterRule::Kind>(input.Take<uint8_t>() % 7);
    rule.value = int32_t{input.Take<uint8_t>()} - 128;
  }
  row.expressions.resize(input.Take<uint8_t>() % 4);
  for (Expression& expression : row.expressions) expression = TakeExpression(input);
  return row;
}

}  // namespace
}  // namespace wf::native

// registers, a row, then what lies on the stack
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wf::native;  // NOLINT(google-build-using-namespace)
  wf::base::FuzzerInput input(data, size);
  const Registers registers = TakeRegisters(input);
  const UnwindRow row = TakeRow(input);
  const std::string_view stack = input.rest();
  uint64_t reads = 0;
  const ReadMemory memory = [&](uint64_t address, void* into, size_t bytes) {
    ++reads;
    const uint64_t at = address - kStack;
    if (address < kStack || at > stack.size() || bytes > stack.size() - at) return false;
    std::memcpy(into, stack.data() + at, bytes);
    return true;
  };
  Registers now = registers;
  for (int i = 0; i < 8; ++i) {
    const auto caller = StepTo(row, now, memory);
    if (!caller) break;
    WF_CHECK(caller->is_root || caller->registers.Has(kReturnAddress));
    now = caller->registers;
  }
  AddressSpace space([](const Mapping&) { return wf::base::Fd(); });
  space.SetMappings({{kCode, kCode + 0x10000, /*offset=*/0, /*is_code=*/true, "", /*inode=*/0, "/bin/x"},
                     {kStack, kStack + 0x10000, /*offset=*/0, /*is_code=*/false, "", /*inode=*/0, ""}});
  const NativeStack found = Unwind(registers, space, memory, kMostFrames);
  WF_CHECK(!found.frames.empty() && found.frames.size() <= kMostFrames);
  WF_CHECK(!Name(found.end).empty());
  for (size_t i = 1; i < found.frames.size(); ++i) WF_CHECK(found.frames[i].stack > found.frames[i - 1].stack);
  WF_CHECK(reads < 50'000);
  return 0;
}

// A chain of frame pointers, under rows of plain rules and of expressions.
std::vector<std::string> wf::base::FuzzerSeeds() {
  using namespace wf::native;  // NOLINT(google-build-using-namespace)
  std::vector<std::string> seeds;
  for (uint8_t kind = 0; kind < 7; ++kind) {
    std::string seed = FuzzerBytes(uint32_t{1 << kFramePointer | 1 << kStackPointer | 1 << kReturnAddress});
    seed += FuzzerBytes(uint16_t{16}) + FuzzerBytes(uint16_t{0}) + FuzzerBytes(uint16_t{0xF010});
    seed += std::string(1, static_cast<char>(kind % 2)) + '\7' + FuzzerBytes(int16_t{16});
    for (size_t i = 0; i < Registers::kCount; ++i) seed += std::string{static_cast<char>(i == 16 ? 2 : kind), 120};
    seed += std::string("\1\3\x77\x08\0\0\x23\x08\0\0\x06\0\0\0", 14);
    for (uint64_t i = 0; i < 16; ++i) {
      seed += FuzzerBytes(kStack + 32 + i * 16) + FuzzerBytes(kCode + i * 64);
    }
    seeds.push_back(seed);
  }
  return seeds;
}
