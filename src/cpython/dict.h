// Dictionaries and instance attributes of a target, as far as thread names need them. Bounded and hostile as all else;
// a dictionary that changes while it is read gives entries that the caller must judge by their content.
#ifndef WF_CPYTHON_DICT_H_
#define WF_CPYTHON_DICT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

// Addresses of key and value of each entry, in order of insertion, at most `most`. Empty when it cannot be read.
std::vector<std::pair<uint64_t, uint64_t>> ReadDict(MemoryReader& memory, const Layout& layout, uint64_t dict,
                                                    size_t most);

// The value under a string key; 0 when there is none.
uint64_t FindInDict(MemoryReader& memory, const Layout& layout, uint64_t dict, std::string_view key);

// The value of an instance attribute, wherever this version keeps it: a dict, or values beside the object with the keys
// in its type; 0 when there is none. Classes with __slots__ are not looked into.
uint64_t FindAttribute(MemoryReader& memory, const Layout& layout, uint64_t object, std::string_view name);

// An int of at most 64 bits that is not negative.
std::optional<uint64_t> ReadInteger(MemoryReader& memory, const Layout& layout, uint64_t object);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_DICT_H_
