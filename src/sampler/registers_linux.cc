#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <array>

#include "sampler/registers.h"

namespace wf::sampler {

native::Registers RegistersOf(const user_regs_struct& from) {
  const std::array<uint64_t, native::Registers::kCount> in_dwarf_order = {
      from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi, from.rbp, from.rsp, from.r8,
      from.r9,  from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.rip};
  native::Registers registers;
  for (size_t i = 0; i < in_dwarf_order.size(); ++i) registers.Set(i, in_dwarf_order.at(i));
  return registers;
}

std::optional<native::Registers> ReadRegisters(int32_t tid) {
  user_regs_struct values{};
  iovec into = {&values, sizeof(values)};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kind of registers stands where others have an address
  if (ptrace(PTRACE_GETREGSET, tid, reinterpret_cast<void*>(NT_PRSTATUS), &into) != 0) return std::nullopt;
  if (into.iov_len != sizeof(values)) return std::nullopt;  // a program of 32 bits
  return RegistersOf(values);
}

}  // namespace wf::sampler
