// Strings of a target: bounded, always valid UTF-8, never longer than asked for.
#ifndef WF_CPYTHON_UNICODE_H_
#define WF_CPYTHON_UNICODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

// What the head of a string object says.
struct UnicodeHead {
  uint64_t length = 0;     // code points
  uint32_t kind = 0;       // bytes of each: 1, 2 or 4
  uint32_t data = 0;       // offset of the text from the object
  bool elsewhere = false;  // there lies the address of the text: strings of a subclass of str
};

// Bytes of a string object that DecodeUnicodeHead wants.
inline constexpr size_t kUnicodeHeadBytes = 40;

// nullopt when the bytes cannot be a string.
std::optional<UnicodeHead> DecodeUnicodeHead(std::span<const std::byte> head, const Layout& layout);

// `kind` bytes a character to UTF-8; lone surrogates and what is no code point become U+FFFD.
std::string ToUtf8(std::span<const std::byte> text, uint32_t kind);

// The strings at `addresses`, read in two batches (three when the text of any lies elsewhere), each at most `most`
// characters, then "…". nullopt for each that cannot be read or is no string.
std::vector<std::optional<std::string>> ReadStrings(MemoryReader& memory, const Layout& layout,
                                                    std::span<const uint64_t> addresses, size_t most);
std::optional<std::string> ReadString(MemoryReader& memory, const Layout& layout, uint64_t address, size_t most);

// The content of a bytes object. nullopt when it cannot be read or is longer than `most`.
std::optional<std::vector<std::byte>> ReadBytes(MemoryReader& memory, const Layout& layout, uint64_t address,
                                                size_t most);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_UNICODE_H_
