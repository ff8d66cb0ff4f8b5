#include "cpython/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string>

namespace wf::cpython {
namespace {

constexpr uint32_t kMostProgramHeaders = 64;
constexpr uint32_t kMostDynamicEntries = 128;
constexpr uint32_t kMostChain = 4096;  // symbols with one hash; real tables have a handful
constexpr size_t kLongestName = 64;
constexpr uint64_t kMostDataBytes = 256 << 20;

}  // namespace

std::optional<ElfImage> ElfImage::At(MemoryReader& memory, uint64_t base) {
  const auto header = memory.Get<Elf64_Ehdr>(base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  std::vector<Elf64_Phdr> headers(std::min<uint32_t>(header->e_phnum, kMostProgramHeaders));
  if (headers.empty() || !memory.ReadOne(base + header->e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) {
    return std::nullopt;
  }
  ElfImage image(memory);
  image.base_ = base;
  const auto first = std::find_if(headers.begin(), headers.end(),
                                  [](const Elf64_Phdr& h) { return h.p_type == PT_LOAD && h.p_offset == 0; });
  if (first == headers.end()) return std::nullopt;
  image.bias_ = base - first->p_vaddr;
  for (const Elf64_Phdr& h : headers) {
    if (h.p_type == PT_DYNAMIC) image.ReadDynamic(image.bias_ + h.p_vaddr, h.p_memsz);
    if (h.p_type == PT_LOAD && (h.p_flags & PF_W) != 0) {
      image.data_address_ = image.bias_ + h.p_vaddr;
      image.data_bytes_ = std::min<uint64_t>(h.p_memsz, kMostDataBytes);
    }
  }
  return image;
}

void ElfImage::ReadDynamic(uint64_t address, uint64_t bytes) {
  std::vector<Elf64_Dyn> entries(std::min<uint64_t>(bytes / sizeof(Elf64_Dyn), kMostDynamicEntries));
  if (!memory_->ReadOne(address, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    // glibc has written the final addresses into the table, musl leaves those of the file.
    const uint64_t value = entry.d_un.d_ptr < base_ ? entry.d_un.d_ptr + bias_ : entry.d_un.d_ptr;
    if (entry.d_tag == DT_SYMTAB) symbols_ = value;
    if (entry.d_tag == DT_STRTAB) strings_ = value;
    if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = value;
    if (entry.d_tag == DT_HASH) hash_ = value;
  }
}

std::optional<uint64_t> ElfImage::MatchSymbol(uint64_t index, std::string_view name) {
  const auto symbol = memory_->Get<Elf64_Sym>(symbols_ + index * sizeof(Elf64_Sym));
  if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0) return std::nullopt;
  std::array<char, kLongestName + 1> text{};
  if (!memory_->ReadOne(strings_ + symbol->st_name, text.data(), name.size() + 1)) return std::nullopt;
  if (text[name.size()] != '\0' || std::string_view(text.data(), name.size()) != name) return std::nullopt;
  return bias_ + symbol->st_value;
}

std::optional<uint64_t> ElfImage::FindByGnuHash(std::string_view name) {
  struct Head {
    uint32_t buckets, first_symbol, bloom_words, bloom_shift;
  };
  const auto head = memory_->Get<Head>(gnu_hash_);
  if (!head || head->buckets == 0) return std::nullopt;
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<uint8_t>(c);
  const uint64_t buckets = gnu_hash_ + sizeof(Head) + uint64_t{head->bloom_words} * 8;
  const auto start = memory_->Get<uint32_t>(buckets + uint64_t{hash % head->buckets} * 4);
  if (!start || *start < head->first_symbol) return std::nullopt;
  const uint64_t chain = buckets + uint64_t{head->buckets} * 4;
  for (uint32_t i = 0; i < kMostChain; ++i) {
    const uint64_t index = uint64_t{*start} + i;
    const auto value = memory_->Get<uint32_t>(chain + (index - head->first_symbol) * 4);
    if (!value) return std::nullopt;
    if ((*value | 1) == (hash | 1)) {
      if (const auto found = MatchSymbol(index, name)) return found;
    }
    if ((*value & 1) != 0) break;  // the last of this bucket
  }
  return std::nullopt;
}

std::optional<uint64_t> ElfImage::FindByHash(std::string_view name) {
  const auto head = memory_->Get<std::array<uint32_t, 2>>(hash_);
  if (!head || (*head)[0] == 0) return std::nullopt;
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<uint8_t>(c);
    hash ^= (hash >> 24) & 0xF0;
    hash &= 0x0FFFFFFF;
  }
  const uint64_t buckets = hash_ + 8;
  const uint64_t chain = buckets + uint64_t{(*head)[0]} * 4;
  auto index = memory_->Get<uint32_t>(buckets + uint64_t{hash % (*head)[0]} * 4);
  for (uint32_t i = 0; i < kMostChain && index && *index != 0; ++i) {
    if (const auto found = MatchSymbol(*index, name)) return found;
    index = memory_->Get<uint32_t>(chain + uint64_t{*index} * 4);
  }
  return std::nullopt;
}

std::optional<uint64_t> ElfImage::Find(std::string_view name) {
  if (symbols_ == 0 || strings_ == 0 || name.size() > kLongestName) return std::nullopt;
  if (gnu_hash_ != 0) return FindByGnuHash(name);
  return hash_ != 0 ? FindByHash(name) : std::nullopt;
}

}  // namespace wf::cpython
