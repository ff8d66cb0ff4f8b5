#include "native/image.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include "native/demangle.h"

namespace wf::native {
namespace {

char debug_info_path[] = ":.debug:/usr/lib/debug";
char* debug_info_path_pointer = debug_info_path;

const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                   .find_debuginfo = dwfl_build_id_find_debuginfo,
                                   .section_address = dwfl_offline_section_address,
                                   .debuginfo_path = &debug_info_path_pointer};

}  // namespace

struct Image::Handle {
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Elf* elf = nullptr;         // belongs to the module
  Dwarf_CFI* frames[2] = {};  // .eh_frame and .debug_frame, likewise
  Dwarf_Addr frames_bias[2] = {};
  bool has_frames = false;  // they were asked for

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
};

Image::Image(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) { ReadSegments(); }
Image::~Image() = default;

std::unique_ptr<Image> Image::Open(base::Fd file) {
  if (!file.valid()) return nullptr;
  auto handle = std::make_unique<Handle>();
  handle->dwfl = dwfl_begin(&kCallbacks);
  if (handle->dwfl == nullptr) return nullptr;
  // From address 0, so that the module's addresses are those of the file.
  handle->module = dwfl_report_elf(handle->dwfl, "", "", file.get(), 0, true);
  if (handle->module == nullptr) return nullptr;
  (void)file.Release();
  dwfl_report_end(handle->dwfl, nullptr, nullptr);
  GElf_Addr bias = 0;
  handle->elf = dwfl_module_getelf(handle->module, &bias);
  GElf_Ehdr header{};
  if (handle->elf == nullptr || gelf_getehdr(handle->elf, &header) == nullptr) return nullptr;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return nullptr;
  return std::unique_ptr<Image>(new Image(std::move(handle)));
}

void Image::ReadSegments() {
  size_t count = 0;
  if (elf_getphdrnum(handle_->elf, &count) != 0) return;
  constexpr size_t kMost = 256;
  for (size_t i = 0; i < std::min(count, kMost); ++i) {
    GElf_Phdr header{};
    if (gelf_getphdr(handle_->elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    segments_.push_back({header.p_offset, header.p_vaddr, header.p_filesz});
  }
}

std::optional<uint64_t> Image::AddressOf(uint64_t file_offset) const {
  constexpr uint64_t kPage = 4096;
  for (const Segment& segment : segments_) {
    // What is mapped begins and ends with a page.
    const uint64_t begin = segment.offset / kPage * kPage;
    if (file_offset >= begin && file_offset - begin < segment.bytes + (segment.offset - begin)) {
      return segment.address + (file_offset - segment.offset);
    }
  }
  return std::nullopt;
}

namespace {

Expression Copied(const Dwarf_Op* ops, size_t count) {
  constexpr size_t kMost = 64;
  Expression copy;
  if (count > kMost) return copy;  // an empty one has no value
  for (size_t i = 0; i < count; ++i) copy.push_back({ops[i].atom, ops[i].number, ops[i].number2});
  return copy;
}

int32_t Keep(UnwindRow& row, Expression expression) {
  row.expressions.push_back(std::move(expression));
  return static_cast<int32_t>(row.expressions.size() - 1);
}

bool FillCfa(Dwarf_Frame* frame, UnwindRow* row) {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0) return false;
  if (count == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
    row->cfa_register = ops[0].atom - DW_OP_breg0;
    row->cfa_offset = static_cast<int64_t>(ops[0].number);
  } else if (count == 1 && ops[0].atom == DW_OP_bregx && ops[0].number < Registers::kCount) {
    row->cfa_register = static_cast<uint16_t>(ops[0].number);
    row->cfa_offset = static_cast<int64_t>(ops[0].number2);
  } else {
    row->cfa_is_expression = true;
    row->expressions.insert(row->expressions.begin(), Copied(ops, count));
  }
  return true;
}

// The forms in which libdw gives the simple rules (elfutils libdw/dwarf_frame_register.c).
RegisterRule RuleOf(Dwarf_Frame* frame, int number, UnwindRow* row) {
  using Kind = RegisterRule::Kind;
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0) return {};
  if (count == 0) return {ops == nullptr ? Kind::kSame : Kind::kUndefined, 0};
  const bool is_value = ops[count - 1].atom == DW_OP_stack_value;
  if (is_value) --count;
  const bool starts_at_cfa = count > 0 && ops[0].atom == DW_OP_call_frame_cfa;
  const bool is_offset = count == 2 && starts_at_cfa && ops[1].atom == DW_OP_plus_uconst;
  const auto offset = is_offset ? static_cast<int64_t>(ops[1].number) : 0;
  if ((is_offset && offset == static_cast<int32_t>(offset)) || (count == 1 && starts_at_cfa)) {
    return {is_value ? Kind::kIsCfa : Kind::kAtCfa, static_cast<int32_t>(offset)};
  }
  if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
    return {Kind::kRegister, ops[0].atom - DW_OP_reg0};
  }
  return {is_value ? Kind::kIsExpression : Kind::kAtExpression, Keep(*row, Copied(ops, count))};
}

}  // namespace

UnwindRow Image::MakeRow(uint64_t address) {
  if (!handle_->has_frames) {
    handle_->has_frames = true;
    handle_->frames[0] = dwfl_module_eh_cfi(handle_->module, &handle_->frames_bias[0]);
    handle_->frames[1] = dwfl_module_dwarf_cfi(handle_->module, &handle_->frames_bias[1]);
  }
  UnwindRow row;
  row.begin = address;
  row.end = address + 1;
  for (int i = 0; i < 2; ++i) {
    Dwarf_Frame* frame = nullptr;
    const Dwarf_Addr bias = handle_->frames_bias[i];
    if (handle_->frames[i] == nullptr || dwarf_cfi_addrframe(handle_->frames[i], address - bias, &frame) != 0) continue;
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> owned(frame, &std::free);
    Dwarf_Addr end = 0;
    if (dwarf_frame_info(frame, nullptr, &end, &row.is_signal) < 0 || !FillCfa(frame, &row)) continue;
    for (size_t n = 0; n < Registers::kCount; ++n) row.rules[n] = RuleOf(frame, static_cast<int>(n), &row);
    row.is_known = true;
    // Where it begins is not told right behind an epilogue in the middle of a function: libdw then gives the beginning
    // of the state that came back, and the epilogue has rules of its own.
    row.end = std::max(end + bias, row.end);
    break;
  }
  return row;
}

const UnwindRow& Image::RowAt(uint64_t address) {
  auto after = rows_.upper_bound(address);
  if (after != rows_.begin() && address < std::prev(after)->second.end) return std::prev(after)->second;
  if (rows_.size() >= kMostRows) rows_.clear();
  UnwindRow row = MakeRow(address);
  const uint64_t begin = row.begin;
  return rows_.insert_or_assign(begin, std::move(row)).first->second;
}

namespace {

// Where the section ends that holds what has no size of its own; 0: not known.
uint64_t SectionEnd(Elf* elf, GElf_Word section, Dwarf_Addr bias) {
  GElf_Shdr header{};
  Elf_Scn* const found = elf == nullptr ? nullptr : elf_getscn(elf, section);
  if (found == nullptr || gelf_getshdr(found, &header) == nullptr) return 0;
  return header.sh_size > UINT64_MAX - header.sh_addr - bias ? 0 : header.sh_addr + header.sh_size + bias;
}

}  // namespace

// Aliases of one address: what others may call comes first, then the name with fewer underscores in front.
void Image::ReadSymbols() {
  symbols_.emplace();
  const int count = dwfl_module_getsymtab(handle_->module);
  std::vector<std::tuple<Symbol, bool, size_t>> found;
  for (int i = 0; i < count && found.size() < kMostSymbols; ++i) {
    GElf_Sym symbol{};
    GElf_Addr address = 0;
    GElf_Word section = 0;
    Elf* elf = nullptr;
    Dwarf_Addr bias = 0;
    const char* name = dwfl_module_getsym_info(handle_->module, i, &symbol, &address, &section, &elf, &bias);
    if (name == nullptr || name[0] == '\0' || section == SHN_UNDEF || section == SHN_ABS) continue;
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (!is_function && !(type == STT_NOTYPE && symbol.st_size > 0)) continue;
    const bool is_sized = symbol.st_size > 0 && symbol.st_size <= UINT64_MAX - address;
    const uint64_t end = is_sized ? address + symbol.st_size : SectionEnd(elf, section, bias);
    found.emplace_back(Symbol{address, end, is_sized, i}, GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
                       std::strspn(name, "_"));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const auto& [first, first_local, first_marks] = a;
    const auto& [second, second_local, second_marks] = b;
    return std::tuple(first.begin, !first.is_sized, first_local, first_marks, first.index) <
           std::tuple(second.begin, !second.is_sized, second_local, second_marks, second.index);
  });
  for (const auto& each : found) {
    const Symbol& symbol = std::get<0>(each);
    if (symbols_->empty() || symbols_->back().begin != symbol.begin) symbols_->push_back(symbol);
  }
  // One without a size, as hand-written assembly has them, reaches to the next, within its section.
  for (size_t i = 0; i + 1 < symbols_->size(); ++i) {
    Symbol& symbol = (*symbols_)[i];
    if (!symbol.is_sized) symbol.end = std::min(symbol.end, (*symbols_)[i + 1].begin);
  }
}

std::string Image::SymbolAt(uint64_t address) {
  if (!symbols_) ReadSymbols();
  auto after = std::upper_bound(symbols_->begin(), symbols_->end(), address,
                                [](uint64_t value, const Symbol& symbol) { return value < symbol.begin; });
  // A few back: functions may lie within the range of another.
  for (int i = 0; i < 4 && after != symbols_->begin(); ++i) {
    --after;
    if (address >= after->end) continue;
    GElf_Sym symbol{};
    GElf_Addr where = 0;
    const char* name =
        dwfl_module_getsym_info(handle_->module, after->index, &symbol, &where, nullptr, nullptr, nullptr);
    return name == nullptr ? "" : ReadableName(name);
  }
  return "";
}

namespace {

std::string NameOf(Dwarf_Die* die) {
  for (const unsigned int name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const char* const text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
    if (text != nullptr) return ReadableName(text);
  }
  const char* const text = dwarf_diename(die);
  return text == nullptr ? "" : text;
}

void SetPlace(Dwarf_Die* unit, Dwarf_Addr address, Function* function) {
  Dwarf_Line* const line = dwarf_getsrc_die(unit, address);
  const char* const file = line == nullptr ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
  int number = 0;
  if (file == nullptr || dwarf_lineno(line, &number) != 0) return;
  function->file = file;
  function->line = number;
}

// Where an inlined function was called.
void SetCallSite(Dwarf_Die* unit, Dwarf_Die* call, Function* caller) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  Dwarf_Word file = 0;
  if (dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &line) == 0) {
    caller->line = static_cast<int32_t>(std::min<Dwarf_Word>(line, INT32_MAX));
  }
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &file) != 0) return;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) return;
  const char* const name = dwarf_filesrc(files, file, nullptr, nullptr);
  if (name != nullptr) caller->file = name;
}

// From `scopes` the functions, innermost first, up to the one that stands in the code by itself.
std::vector<Function> FunctionsIn(Dwarf_Die* unit, Dwarf_Addr address, Dwarf_Die* scopes, int count) {
  constexpr size_t kMost = 64;
  std::vector<Function> functions;
  Dwarf_Die* inner = nullptr;
  for (int i = 0; i < count && functions.size() < kMost; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    Function& function = functions.emplace_back();
    function.name = NameOf(&scopes[i]);
    function.is_inlined = tag == DW_TAG_inlined_subroutine;
    if (inner == nullptr) {
      SetPlace(unit, address, &function);
    } else {
      SetCallSite(unit, inner, &function);
    }
    if (!function.is_inlined) break;
    inner = &scopes[i];
  }
  return functions;
}

}  // namespace

std::vector<Function> Image::InlinedAt(uint64_t address) {
  Dwarf_Addr bias = 0;
  if (dwfl_module_getdwarf(handle_->module, &bias) == nullptr) return {};
  Dwarf_Die* const unit = dwfl_module_addrdie(handle_->module, address, &bias);
  if (unit == nullptr) return {};
  Dwarf_Die* at = nullptr;
  const int found = dwarf_getscopes(unit, address - bias, &at);
  const std::unique_ptr<Dwarf_Die, void (*)(void*)> at_owned(at, &std::free);
  if (found <= 0) return {};
  // The scopes around the place of the innermost one, not around its definition.
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&at[0], &scopes);
  const std::unique_ptr<Dwarf_Die, void (*)(void*)> owned(scopes, &std::free);
  return count <= 0 ? std::vector<Function>() : FunctionsIn(unit, address - bias, scopes, count);
}

std::vector<Function> Image::FunctionsAt(uint64_t address) {
  std::vector<Function> functions = InlinedAt(address);
  const bool has_outer = !functions.empty() && !functions.back().is_inlined;
  if (!has_outer) functions.emplace_back();
  // By the name that others call it, with and without debug files the same: theirs may be an internal alias.
  std::string symbol = SymbolAt(address);
  if (!symbol.empty()) functions.back().name = std::move(symbol);
  return functions;
}

}  // namespace wf::native
