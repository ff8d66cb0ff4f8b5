#include "sampler/build_id.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace wf::sampler {
namespace {

std::string BuildIdIn(const std::vector<char>& notes) {
  const auto padded = [](uint32_t bytes) { return (size_t{bytes} + 3) / 4 * 4; };
  for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + at, sizeof(header));
    const size_t content = at + sizeof(header) + padded(header.n_namesz);
    if (content > notes.size() || header.n_descsz > notes.size() - content) return "";
    const bool is_gnu = header.n_namesz == 4 && std::memcmp(notes.data() + at + sizeof(header), "GNU", 4) == 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID) return std::string(notes.data() + content, header.n_descsz);
    at = content + padded(header.n_descsz);
  }
  return "";
}

}  // namespace

std::string BuildIdAt(cpython::MemoryReader& memory, uint64_t base, bool in_file) {
  constexpr uint16_t kMostHeaders = 64;
  constexpr uint64_t kMostNoteBytes = 1 << 16;
  const auto header = memory.Get<Elf64_Ehdr>(base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return "";
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return "";
  std::vector<Elf64_Phdr> headers(std::min(header->e_phnum, kMostHeaders));
  if (!memory.ReadOne(base + header->e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) return "";
  const auto first = std::find_if(headers.begin(), headers.end(), [](const auto& h) { return h.p_type == PT_LOAD; });
  if (first == headers.end()) return "";
  for (const Elf64_Phdr& each : headers) {
    if (each.p_type != PT_NOTE) continue;
    std::vector<char> notes(std::min(each.p_filesz, kMostNoteBytes));
    const uint64_t at = in_file ? each.p_offset : each.p_vaddr - (first->p_vaddr - first->p_offset);
    if (!memory.ReadOne(base + at, notes.data(), notes.size())) continue;
    if (std::string id = BuildIdIn(notes); !id.empty()) return id;
  }
  return "";
}

}  // namespace wf::sampler
