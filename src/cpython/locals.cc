#include "cpython/locals.h"

#include <algorithm>
#include <utility>

#include "cpython/unicode.h"

namespace wf::cpython {
namespace {

constexpr size_t kMostLocals = 1000;
constexpr size_t kLongestName = 200;
// 3.14 and newer keep marks in the low bits of the references in frames (pycore_stackref.h).
constexpr uint64_t kTagBits = 7;
constexpr uint32_t kHasVarArgs = 4;  // CO_VARARGS, CO_VARKEYWORDS
constexpr uint32_t kHasVarKeywords = 8;
constexpr uint64_t kCellContent = 16;  // PyCellObject.ob_ref

std::vector<uint64_t> ReadTuple(MemoryReader& memory, const Layout& layout, uint64_t tuple) {
  if (!IsPlausiblePointer(tuple)) return {};
  const auto size = memory.Get<uint64_t>(tuple + layout.tuple.size).value_or(0);
  std::vector<uint64_t> items(std::min<uint64_t>(size, kMostLocals));
  if (items.empty() || !memory.ReadOne(tuple + layout.tuple.items, items.data(), items.size() * 8)) return {};
  return items;
}

uint64_t CodeOf(MemoryReader& memory, const Layout& layout, uint64_t frame) {
  return memory.Get<uint64_t>(frame + layout.frame.code).value_or(0) & ~kTagBits;
}

// The addresses of the names in the order of the frame's slots. Until 3.10 they stand in three tuples beside each
// other: co_varnames, co_freevars, co_cellvars, and the slots of the cells come before those of the free variables.
std::vector<uint64_t> NamesOf(MemoryReader& memory, const Layout& layout, uint64_t code) {
  const auto tuple_at = [&](uint64_t field) {
    return ReadTuple(memory, layout, memory.Get<uint64_t>(code + field).value_or(0));
  };
  std::vector<uint64_t> names = tuple_at(layout.code.local_names);
  if (layout.code.local_kinds != kAbsent) return names;
  for (const uint64_t field : {layout.code.local_names + 16, layout.code.local_names + 8}) {
    const auto more = tuple_at(field);
    names.insert(names.end(), more.begin(), more.end());
  }
  names.resize(std::min(names.size(), kMostLocals));
  return names;
}

size_t ArgumentCount(MemoryReader& memory, const Layout& layout, uint64_t code) {
  const auto positional = memory.Get<uint32_t>(code + layout.code.argument_count).value_or(0);
  const auto keyword = memory.Get<uint32_t>(code + layout.code.keyword_only_count).value_or(0);
  const auto flags = memory.Get<uint32_t>(code + layout.code.flags).value_or(0);
  return size_t{positional} + keyword + ((flags & kHasVarArgs) != 0 ? 1 : 0) + ((flags & kHasVarKeywords) != 0 ? 1 : 0);
}

bool IsCodeOf(MemoryReader& memory, const Layout& layout, uint64_t code, const Code& known) {
  if (!IsPlausiblePointer(code)) return false;
  if (memory.Get<int32_t>(code + layout.code.first_line) != known.first_line) return false;
  const auto name = memory.Get<uint64_t>(code + layout.code.name);
  if (!name || !IsPlausiblePointer(*name)) return false;
  // A long name is shortened in `known`: its beginning must do.
  const auto text = ReadString(memory, layout, *name, kLongestName);
  return text && (text->size() > kLongestName ? known.name.starts_with(text->substr(0, 64)) : known.name == *text);
}

}  // namespace

std::vector<Local> ReadLocals(MemoryReader& memory, const Layout& layout, const Frame& frame,
                              const ValueLimits& limits) {
  if (frame.code == nullptr || !IsPlausiblePointer(frame.address)) return {};
  const uint64_t code = CodeOf(memory, layout, frame.address);
  if (!IsCodeOf(memory, layout, code, *frame.code)) return {};
  const auto name_addresses = NamesOf(memory, layout, code);
  const auto names = ReadStrings(memory, layout, name_addresses, kLongestName);
  std::vector<uint64_t> values(names.size());
  if (values.empty() || !memory.ReadOne(frame.address + layout.frame.locals, values.data(), values.size() * 8)) {
    return {};
  }
  const size_t arguments = ArgumentCount(memory, layout, code);
  ValueText writer(memory, layout, limits);
  std::vector<Local> locals;
  for (size_t i = 0; i < names.size(); ++i) {
    uint64_t value = values[i] & ~kTagBits;
    if (!names[i] || value == 0) continue;
    if (writer.TypeName(value) == "cell") value = memory.Get<uint64_t>(value + kCellContent).value_or(0);
    if (value == 0) continue;
    locals.push_back({*names[i], value, i < arguments, writer.Of(value)});
  }
  if (CodeOf(memory, layout, frame.address) != code) return {};
  return locals;
}

}  // namespace wf::cpython
