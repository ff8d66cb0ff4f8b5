// From the place in a code object's instructions to a line of its source.
//
// Three formats, described in CPython's Objects/lnotab_notes.txt (3.8 to 3.10) and Objects/locations.md (3.11 on):
//   co_lnotab, until 3.9     pairs of bytes: address +n, line +n (signed)
//   co_linetable, 3.10       pairs of bytes: length, line +n (signed; -128: the range has no line)
//   locations, 3.11 on       entries: a byte 1cccclll (kind, length - 1 in code units), then what the kind has
// The bytes come from another process: any bytes give an answer, none is read past the end.
#ifndef WF_CPYTHON_LINE_TABLE_H_
#define WF_CPYTHON_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace wf::cpython {

// The line at byte offset `at` of the instructions (negative: not begun, which is the first line). nullopt when that
// place belongs to no line. `minor` is the version's.
std::optional<int32_t> LineAt(std::span<const std::byte> table, uint32_t minor, int32_t first_line, int64_t at);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_LINE_TABLE_H_
