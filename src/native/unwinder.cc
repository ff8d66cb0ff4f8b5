#include "native/unwinder.h"

#include <array>
#include <optional>

namespace wf::native {
namespace {

constexpr int kMostStackSwitches = 8;

bool IsCode(const AddressSpace& space, uint64_t address) {
  const Mapping* const mapping = space.Find(address);
  return mapping != nullptr && mapping->is_code;
}

// Code that keeps a frame pointer: it points to the caller's, and behind that lies where the caller goes on.
std::optional<Caller> StepByFramePointer(const Registers& registers, const AddressSpace& space,
                                         const ReadMemory& memory) {
  const uint64_t frame = registers.Get(kFramePointer);
  std::array<uint64_t, 2> saved{};
  if (frame < registers.sp() || frame % 8 != 0 || !memory(frame, saved.data(), sizeof(saved))) return std::nullopt;
  if (!IsCode(space, saved[1])) return std::nullopt;
  Caller caller;
  caller.cfa = frame + sizeof(saved);
  caller.registers.Set(kFramePointer, saved[0]);
  caller.registers.Set(kStackPointer, caller.cfa);
  caller.registers.Set(kReturnAddress, saved[1]);
  return caller;
}

// A call through a null or stray pointer: the caller's address lies on top of the stack.
std::optional<Caller> StepFromNowhere(const Registers& registers, const AddressSpace& space, const ReadMemory& memory) {
  uint64_t back = 0;
  if (!memory(registers.sp(), &back, sizeof(back)) || !IsCode(space, back)) return std::nullopt;
  Caller caller;
  caller.registers = registers;
  caller.cfa = registers.sp() + sizeof(back);
  caller.registers.Set(kStackPointer, caller.cfa);
  caller.registers.Set(kReturnAddress, back);
  return caller;
}

}  // namespace

std::string_view Name(StackEnd end) {
  static constexpr std::array<std::string_view, 5> kNames = {"root", "too deep", "no unwind information", "unreadable",
                                                             "bad frame"};
  return kNames.at(static_cast<size_t>(end));
}

NativeStack Unwind(const Registers& registers, AddressSpace& space, const ReadMemory& memory, size_t most) {
  NativeStack stack;
  Registers now = registers;
  bool is_exact = true;  // the address is that of an instruction to come, not of the one behind a call
  int switches = 0;
  while (true) {
    if (stack.frames.size() >= most) {
      stack.end = StackEnd::kTooDeep;
      return stack;
    }
    const uint64_t code = is_exact ? now.pc() : now.pc() - 1;
    stack.frames.push_back({.code = code, .stack = now.sp()});
    const UnwindRow* const row = space.RowAt(code);
    const bool is_signal = row != nullptr && row->is_signal;
    std::optional<Caller> caller;
    if (row != nullptr) {
      caller = StepTo(*row, now, memory);
      stack.end = StackEnd::kUnreadable;
    } else {
      caller = IsCode(space, code) ? StepByFramePointer(now, space, memory) : StepFromNowhere(now, space, memory);
      stack.end = StackEnd::kNoUnwind;
    }
    if (!caller) return stack;
    stack.frames.back().cfa = caller->cfa;
    if (caller->is_root || caller->registers.pc() == 0) {
      stack.end = StackEnd::kRoot;
      return stack;
    }
    const bool goes_up = caller->cfa > now.sp();
    if (!goes_up && (!is_signal || ++switches > kMostStackSwitches)) {
      stack.end = StackEnd::kBadFrame;
      return stack;
    }
    now = caller->registers;
    is_exact = is_signal;
  }
}

}  // namespace wf::native
