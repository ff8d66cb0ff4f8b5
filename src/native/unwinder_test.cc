#include "native/unwinder.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace wf::native {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string OwnMaps() {
  std::ifstream file("/proc/self/maps");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

base::Fd OpenPath(const Mapping& mapping) { return base::Fd(::open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC)); }

// Our own memory, for addresses that are mapped.
ReadMemory OwnMemory(const AddressSpace& space) {
  return [&space](uint64_t address, void* into, size_t bytes) {
    const Mapping* const mapping = space.Find(address);
    if (mapping == nullptr || bytes > mapping->end - address) return false;
    std::memcpy(into, reinterpret_cast<const void*>(address), bytes);  // NOLINT(performance-no-int-to-ptr)
    return true;
  };
}

Registers RegistersOf(const ucontext_t& context) {
  static constexpr std::array<int, Registers::kCount> kDwarfOrder = {
      REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
      REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  Registers registers;
  for (size_t i = 0; i < Registers::kCount; ++i) {
    registers.Set(i, static_cast<uint64_t>(context.uc_mcontext.gregs[kDwarfOrder.at(i)]));
  }
  return registers;
}

struct Seen {
  std::vector<std::string> names;
  NativeStack stack;
};

// The unwinder looks at the thread that runs it.
[[gnu::noinline]] Seen LookAtOurselves(size_t most) {
  AddressSpace space(&OpenPath);
  space.SetMappings(MappingsIn(OwnMaps()));
  ucontext_t context;
  getcontext(&context);
  Seen seen;
  seen.stack = Unwind(RegistersOf(context), space, OwnMemory(space), most);
  for (const NativeFrame& frame : seen.stack.frames) {
    for (const Place& place : space.PlacesAt(frame.code)) seen.names.push_back(place.function.name);
  }
  return seen;
}

[[gnu::noinline]] Seen Nested(int depth, size_t most) {
  Seen seen = depth == 0 ? LookAtOurselves(most) : Nested(depth - 1, most);
  asm volatile("" ::: "memory");  // no tail call
  return seen;
}

TEST(Unwind, OwnStackIsWalkedToItsRootWithNames) {
  const Seen seen = Nested(7, 1000);
  EXPECT_EQ(seen.stack.end, StackEnd::kRoot);
  EXPECT_EQ(std::count_if(seen.names.begin(), seen.names.end(),
                          [](const std::string& name) { return name.find("::Nested(") != std::string::npos; }),
            8);
  EXPECT_THAT(seen.names, Contains(HasSubstr("LookAtOurselves")));
  EXPECT_THAT(seen.names, Contains("main"));
  for (size_t i = 1; i < seen.stack.frames.size(); ++i) {
    EXPECT_EQ(seen.stack.frames[i].stack, seen.stack.frames[i - 1].cfa);
  }
}

TEST(Unwind, DeepStacksEndWhereAskedFor) {
  const Seen seen = Nested(500, 100);
  EXPECT_EQ(seen.stack.end, StackEnd::kTooDeep);
  EXPECT_EQ(seen.stack.frames.size(), 100U);
}

TEST(Unwind, AnyRegistersAndMemoryEndWithinBounds) {
  AddressSpace space(&OpenPath);
  space.SetMappings(MappingsIn(OwnMaps()));
  std::mt19937_64 random(4711);
  std::vector<Mapping> code;
  for (Mapping& mapping : MappingsIn(OwnMaps())) {
    if (mapping.is_code) code.push_back(std::move(mapping));
  }
  const auto address_of_code = [&] {
    const Mapping& mapping = code[random() % code.size()];
    return mapping.begin + random() % (mapping.end - mapping.begin);
  };
  // Full of addresses of code and of near places.
  const ReadMemory memory = [&](uint64_t address, void* into, size_t bytes) {
    auto* const to = static_cast<std::byte*>(into);
    for (size_t i = 0; i < bytes; i += 8) {
      const uint64_t value = random() % 4 == 0   ? random()
                             : random() % 2 == 0 ? address_of_code()
                                                 : address + random() % 64;
      std::memcpy(to + i, &value, std::min<size_t>(8, bytes - i));
    }
    return random() % 50 != 0;
  };
  for (int round = 0; round < 2000; ++round) {
    Registers registers;
    for (size_t i = 0; i < Registers::kCount; ++i) registers.Set(i, random());
    registers.Set(kReturnAddress, address_of_code());
    EXPECT_LE(Unwind(registers, space, memory, 200).frames.size(), 200U);
  }
}

TEST(Unwind, WithoutFilesFramePointersLeadOn) {
  AddressSpace space([](const Mapping&) { return base::Fd(); });
  space.SetMappings(MappingsIn("1000-2000 r-xp 00000000 00:00 0 \n"));
  const auto memory = [](uint64_t address, void* into, size_t bytes) {
    const std::vector<uint64_t> stack = {0x8020, 0x1200, 0, 0, 0, 0x1300, 0, 0};
    if (address < 0x8000 || address + bytes > 0x8000 + stack.size() * 8) return false;
    std::memcpy(into, reinterpret_cast<const std::byte*>(stack.data()) + (address - 0x8000), bytes);
    return true;
  };
  Registers registers;
  registers.Set(kReturnAddress, 0x1100);
  registers.Set(kStackPointer, 0x8000);
  registers.Set(kFramePointer, 0x8000);
  const NativeStack stack = Unwind(registers, space, memory, 10);
  ASSERT_EQ(stack.frames.size(), 3U);
  EXPECT_EQ(stack.frames[1].code, 0x11ffU);
  EXPECT_EQ(stack.frames[2].code, 0x12ffU);
  EXPECT_EQ(stack.end, StackEnd::kNoUnwind);
}

// libdw gives too early a beginning for what follows an epilogue in the middle of a function.
TEST(Image, RowsDoNotDependOnWhatWasAskedBefore) {
  AddressSpace space(&OpenPath);
  space.SetMappings(MappingsIn(OwnMaps()));
  const auto address = reinterpret_cast<uint64_t>(&std::fopen);  // NOLINT(performance-no-int-to-ptr)
  const Mapping* const libc = space.Find(address);
  ASSERT_NE(libc, nullptr);
  const auto upwards = Image::Open(OpenPath(*libc));
  const auto downwards = Image::Open(OpenPath(*libc));
  ASSERT_NE(upwards, nullptr);
  const uint64_t begin = upwards->AddressOf(libc->offset).value() + (address - libc->begin);
  constexpr uint64_t kBytes = 20'000;
  std::vector<std::pair<int64_t, int>> up, down;
  const auto rule_of = [](const UnwindRow& row) { return std::pair(row.cfa_offset, int{row.cfa_register}); };
  for (uint64_t i = 0; i < kBytes; ++i) up.push_back(rule_of(upwards->RowAt(begin + i)));
  for (uint64_t i = kBytes; i-- > 0;) down.push_back(rule_of(downwards->RowAt(begin + i)));
  std::reverse(down.begin(), down.end());
  EXPECT_EQ(up, down);
}

TEST(Evaluate, MalformedExpressionsHaveNoValue) {
  const ReadMemory none = [](uint64_t, void*, size_t) { return false; };
  const Registers registers;
  EXPECT_EQ(Evaluate({}, registers, none, std::nullopt), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_plus}}, registers, none, std::nullopt), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_breg7, 8}}, registers, none, std::nullopt), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_deref}}, registers, none, std::nullopt), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_skip, 0}}, registers, none, std::nullopt), std::nullopt);
  EXPECT_EQ(Evaluate(Expression(1000, {DW_OP_lit1}), registers, none, std::nullopt), std::nullopt);
}

// The expression of every procedure linkage table on x86-64.
TEST(Evaluate, TheExpressionOfALinkageTableIsUnderstood) {
  const Expression table = {{DW_OP_breg7, 8}, {DW_OP_breg16, 0}, {DW_OP_lit15}, {DW_OP_and}, {DW_OP_lit11},
                            {DW_OP_ge},       {DW_OP_lit3},      {DW_OP_shl},   {DW_OP_plus}};
  const ReadMemory none = [](uint64_t, void*, size_t) { return false; };
  Registers registers;
  registers.Set(kStackPointer, 0x1000);
  registers.Set(kReturnAddress, 0x40000b);
  EXPECT_EQ(Evaluate(table, registers, none, std::nullopt), 0x1010U);
  registers.Set(kReturnAddress, 0x40000a);
  EXPECT_EQ(Evaluate(table, registers, none, std::nullopt), 0x1008U);
}

TEST(MappingsIn, LinesThatAreNoneAreLeftOut) {
  const auto mappings = MappingsIn(
      "7f0000001000-7f0000002000 r-xp 00001000 08:01 42                         /a b/lib c.so (deleted)\n"
      "nonsense\n\n9-1 r-xp 0 0 0\n"
      "00400000-00401000 rw-p 00000000 00:00 0\n");
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].begin, 0x400000U);
  EXPECT_EQ(mappings[0].path, "");
  EXPECT_FALSE(mappings[0].is_code);
  EXPECT_EQ(mappings[1].path, "/a b/lib c.so (deleted)");
  EXPECT_EQ(mappings[1].offset, 0x1000U);
  EXPECT_EQ(mappings[1].inode, 42U);
  EXPECT_TRUE(mappings[1].is_code);
}

}  // namespace
}  // namespace wf::native
