// The native stack of one thread that does not run, from its registers and its memory.
#ifndef WF_NATIVE_UNWINDER_H_
#define WF_NATIVE_UNWINDER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "native/address_space.h"
#include "native/memory.h"
#include "native/registers.h"

namespace wf::native {

struct NativeFrame {
  uint64_t code = 0;   // an address within the instruction that runs, or that made the call
  uint64_t stack = 0;  // the stack pointer in this frame
  uint64_t cfa = 0;    // the one of its caller before the call: the frame is [stack, cfa); 0: not known
};

// Why there is no further frame.
enum class StackEnd : uint8_t {
  kRoot,        // nobody called
  kTooDeep,     // there are more than were asked for
  kNoUnwind,    // nothing tells how to go on: code that was made at run time, or a file without such tables
  kUnreadable,  // the memory that it takes was not to be had
  kBadFrame,    // what was found cannot be a frame
};
// "root", "too deep", …; stable, used in JSON.
std::string_view Name(StackEnd end);

struct NativeStack {
  std::vector<NativeFrame> frames;  // leaf first
  StackEnd end = StackEnd::kRoot;
};

// At most `most` frames. By the tables of the files where these know, else by frame pointers. Bounded whatever the
// bytes are: each frame lies above the one before, but for a few switches to another stack at signal handlers.
NativeStack Unwind(const Registers& registers, AddressSpace& space, const ReadMemory& memory, size_t most);

}  // namespace wf::native

#endif  // WF_NATIVE_UNWINDER_H_
