// Image: what the file of a program or library tells about its code: how to unwind, names, lines, inlined functions.
//
// Read through elfutils. Separate debug files are found by build id under /usr/lib/debug and nowhere else: nothing is
// asked for over the network. All addresses are those of the file (p_vaddr). The file may belong to someone who wants
// to harm us: its tables are read by elfutils, and what we make of them is bounded.
//
// Threading: one thread at a time; images are independent of each other.
#ifndef WF_NATIVE_IMAGE_H_
#define WF_NATIVE_IMAGE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "native/unwind_row.h"

namespace wf::native {

// A function that an address belongs to. An address inside of inlined functions belongs to several.
struct Function {
  std::string name;  // readable; empty: not known
  std::string file;  // of the source; empty: not known
  int32_t line = 0;  // 0: not known
  bool is_inlined = false;
};

class Image {
 public:
  // nullptr when the file is no ELF program or library of 64 bits for x86-64.
  static std::unique_ptr<Image> Open(base::Fd file);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // The address of what lies at that place in the file; nullopt when it is not loaded.
  std::optional<uint64_t> AddressOf(uint64_t file_offset) const;
  // How to get from there to the caller; `is_known` is false when the file does not say. Valid until the next call.
  const UnwindRow& RowAt(uint64_t address);
  // The functions at the address, the innermost of inlined ones first; never empty.
  std::vector<Function> FunctionsAt(uint64_t address);

 private:
  static constexpr size_t kMostRows = 1 << 14;
  static constexpr size_t kMostSymbols = 1 << 22;

  struct Handle;  // of elfutils
  struct Symbol {
    uint64_t begin = 0;
    uint64_t end = 0;
    bool is_sized = false;  // by its own word
    int index = 0;          // in the file's table
  };
  struct Segment {
    uint64_t offset = 0, address = 0, bytes = 0;
  };

  explicit Image(std::unique_ptr<Handle> handle);
  void ReadSegments();
  void ReadSymbols();
  std::string SymbolAt(uint64_t address);
  std::vector<Function> InlinedAt(uint64_t address);
  UnwindRow MakeRow(uint64_t address);

  std::unique_ptr<Handle> handle_;
  std::vector<Segment> segments_;
  std::optional<std::vector<Symbol>> symbols_;  // sorted, once they were asked for
  std::map<uint64_t, UnwindRow> rows_;          // by begin
};

}  // namespace wf::native

#endif  // WF_NATIVE_IMAGE_H_
