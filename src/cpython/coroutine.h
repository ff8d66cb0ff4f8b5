// The chain of what a coroutine awaits: coroutines, generators, asynchronous generators and what stands between them.
#ifndef WF_CPYTHON_COROUTINE_H_
#define WF_CPYTHON_COROUTINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"
#include "cpython/stack.h"

namespace wf::cpython {

inline constexpr size_t kMostAwaits = 100;  // frames of a chain that are kept: the outermost ones

struct AwaitChain {
  std::vector<RawFrame> frames;  // leaf first
  uint64_t awaited = 0;          // the object at the end that is no coroutine: a future, a task; 0: none
  bool running = false;          // the leaf runs: what it calls stands in the stack of its thread
  bool truncated = false;        // more frames follow towards the leaf
  bool operator==(const AwaitChain&) const = default;
};

// Whether a coroutine or generator lies there.
bool IsCoroutine(MemoryReader& memory, const Layout& layout, uint64_t object);

// What the coroutine at `object` awaits. Bounded whatever the bytes are; torn when the target runs meanwhile.
AwaitChain ReadAwaitChain(MemoryReader& memory, const Layout& layout, uint64_t object);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_COROUTINE_H_
