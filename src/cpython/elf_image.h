// ElfImage: the dynamic symbols of a program or library as it lies in a target's memory.
//
// Read from memory and not from the file: that works as well when the file was deleted or replaced, or lies in another
// mount namespace, and needs no right to files. The dynamic loader needs these tables at run time, so they are always
// there. Source of the formats: System V ABI, and glibc's dl-lookup.c for DT_GNU_HASH.
#ifndef WF_CPYTHON_ELF_IMAGE_H_
#define WF_CPYTHON_ELF_IMAGE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "cpython/memory_reader.h"

namespace wf::cpython {

class ElfImage {
 public:
  // The image whose ELF header lies at `base`. nullopt when there is none of 64 bits. `memory` must outlive it.
  static std::optional<ElfImage> At(MemoryReader& memory, uint64_t base);

  // Address of a defined dynamic symbol.
  std::optional<uint64_t> Find(std::string_view name);

  // What is added to an address in the file to get the one in memory.
  uint64_t bias() const { return bias_; }
  // Its writable data with .bss; 0 bytes when it has none.
  uint64_t data_address() const { return data_address_; }
  uint64_t data_bytes() const { return data_bytes_; }

 private:
  explicit ElfImage(MemoryReader& memory) : memory_(&memory) {}
  void ReadDynamic(uint64_t address, uint64_t bytes);
  std::optional<uint64_t> MatchSymbol(uint64_t index, std::string_view name);
  std::optional<uint64_t> FindByGnuHash(std::string_view name);
  std::optional<uint64_t> FindByHash(std::string_view name);

  MemoryReader* memory_;
  uint64_t base_ = 0;
  uint64_t bias_ = 0;
  uint64_t symbols_ = 0;
  uint64_t strings_ = 0;
  uint64_t gnu_hash_ = 0;
  uint64_t hash_ = 0;
  uint64_t data_address_ = 0;
  uint64_t data_bytes_ = 0;
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_ELF_IMAGE_H_
