// The table _Py_DebugOffsets with which _PyRuntime begins from CPython 3.13 on.
//
// Source: Include/internal/pycore_runtime.h (3.13), pycore_debug_offsets.h (3.14, 3.15). All fields are 64-bit words;
// the table grew in the middle with each version, so that the place of a word depends on the version too.
#ifndef WF_CPYTHON_DEBUG_OFFSETS_H_
#define WF_CPYTHON_DEBUG_OFFSETS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpython/layout.h"

namespace wf::cpython {

// Bytes to copy from _PyRuntime; longer than the table of any version.
inline constexpr size_t kDebugOffsetsBytes = 1024;

struct DebugHeader {
  bool present = false;  // the cookie "xdebugpy" is there
  uint32_t version_hex = 0;
  bool free_threaded = false;
};

DebugHeader ReadDebugHeader(std::span<const std::byte> runtime);

// Overwrites in `layout` (the table of this version, 3.13 or newer) what the interpreter says itself. False when a word
// cannot be an offset, so that the table is not to be trusted; `layout` is then of no use.
bool ApplyDebugOffsets(std::span<const std::byte> runtime, Layout* layout);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_DEBUG_OFFSETS_H_
