// The frames of one thread as they lie in memory, before their code is looked up.
#ifndef WF_CPYTHON_STACK_H_
#define WF_CPYTHON_STACK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"
#include "cpython/mirror.h"

namespace wf::cpython {

// Why a stack, or what is left of it, is not shown.
enum class Reject : uint8_t {
  kNone,
  kTorn,            // the thread ran on while it was read, in each attempt
  kUnreadable,      // a frame lies where nothing can be read
  kBadFrame,        // what lies there is no frame
  kBadInstruction,  // the place in the code is outside the code
  kBadCode,         // no sound code object
  kThreadGone,      // the thread ended meanwhile
};
inline constexpr size_t kRejectCount = 7;
// "torn", "unreadable", ...; stable, used in JSON.
std::string_view Name(Reject reason);

// RawFrame::code of what is no frame but a mark: the garbage collector runs on the frame behind it. All else is zero.
inline constexpr uint64_t kCollectorMark = 1;

struct RawFrame {
  uint64_t address = 0;
  uint64_t code = 0;
  uint64_t instruction = 0;  // until 3.10 the index, sign-extended; then a pointer
  uint8_t owner = 0;
  bool is_entry = false;  // the outermost of the frames that one call of the evaluation loop runs

  bool operator==(const RawFrame&) const = default;
  bool IsSamePlace(const RawFrame& other) const {
    return address == other.address && code == other.code && owner == other.owner;
  }
};

struct RawStack {
  std::vector<RawFrame> frames;   // leaf first; shims left out
  bool truncated = false;         // there are more towards the root
  Reject broken = Reject::kNone;  // why the walk ended before the root
};

// The frame at `address`; nullopt when it cannot be read or is none with Python code.
std::optional<RawFrame> ReadFrame(MemoryReader& memory, const Layout& layout, uint64_t address);

// Walks from the current frame of the thread whose PyThreadState lies at `thread` to its root, at most `most` frames.
// The walk is bounded whatever the bytes are. What `stack` held is replaced. `collecting`: the frame on which the
// garbage collector of the thread's interpreter runs, 0 for none; where it is one of these, a mark stands before it.
void WalkStack(MemoryReader& memory, Mirror& mirror, const Layout& layout, uint64_t thread, size_t most,
               uint64_t collecting, RawStack* stack);

// Whether two copies of a running thread's stack agree: the leaf may have moved on within its own code, everything else
// is equal.
bool Agree(const RawStack& first, const RawStack& second);

// The root part on which both copies agree; its leaf may have moved on within its own code. Of copies that are
// truncated, which is then said, it begins at the root-most frame that both have. Empty when they share nothing or one
// is broken.
RawStack CommonRoot(const RawStack& first, const RawStack& second);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_STACK_H_
