// How this room sees the memory of a target: it asks for bytes and is given them. What comes back is hostile.
#ifndef WF_NATIVE_MEMORY_H_
#define WF_NATIVE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace wf::native {

// All of `bytes` at `address`, or false. Called from the thread that asks.
using ReadMemory = std::function<bool(uint64_t address, void* into, size_t bytes)>;

}  // namespace wf::native

#endif  // WF_NATIVE_MEMORY_H_
