#include "cpython/stack.h"

#include <algorithm>
#include <bit>

namespace wf::cpython {
namespace {

constexpr uint8_t kHighestOwner = 4;
// 3.14 and newer keep marks in the low bits of the references in frames (pycore_stackref.h); 3.13 and older have zeros
// there, because objects are aligned.
constexpr uint64_t kTagBits = 7;
// Shims between Python frames do not count as frames, but a ring of them must end too.
constexpr size_t kShimsPerFrame = 4;

uint64_t CurrentFrame(MemoryReader& memory, Mirror& mirror, const Layout& layout, uint64_t thread, Reject* broken) {
  const uint32_t field = layout.thread.frame != kAbsent ? layout.thread.frame : layout.thread.cframe;
  auto frame = mirror.Get<uint64_t>(memory, thread + field);
  if (frame && *frame != 0 && layout.thread.frame == kAbsent) {
    frame = mirror.Get<uint64_t>(memory, *frame + layout.cframe.current_frame);
  }
  if (!frame) *broken = Reject::kUnreadable;
  return frame.value_or(0);
}

// Until 3.10 each frame has a call of the evaluation loop of its own; from 3.12 on a shim follows an entry frame, which
// the walk sees.
bool IsEntry(std::span<const std::byte> bytes, const Layout& layout) {
  if (layout.frame.is_entry != kAbsent) return FieldAt<uint8_t>(bytes, layout.frame.is_entry) != 0;
  return layout.frame.first_shim == kAbsent;
}

RawFrame Decode(std::span<const std::byte> bytes, const Layout& layout, uint64_t address) {
  RawFrame frame;
  frame.address = address;
  frame.code = FieldAt<uint64_t>(bytes, layout.frame.code) & ~kTagBits;
  if (layout.frame.owner != kAbsent) frame.owner = FieldAt<uint8_t>(bytes, layout.frame.owner);
  frame.is_entry = IsEntry(bytes, layout);
  if (layout.frame.instruction_bytes == kAbsent) {
    frame.instruction = FieldAt<uint64_t>(bytes, layout.frame.instruction);
  } else {
    frame.instruction = static_cast<uint64_t>(int64_t{FieldAt<int32_t>(bytes, layout.frame.instruction)});
  }
  return frame;
}

// What stands before a shim is the outermost frame of its call.
void MarkEntry(std::vector<RawFrame>* frames) {
  if (!frames->empty() && frames->back().code != kCollectorMark) frames->back().is_entry = true;
}

// Whether it is the stack of a greenlet that is just being switched from or to: the greenlet library relinks its frames
// then, without any shim, because shims lie on the C stack that is being exchanged, and ends the chain at the last one.
bool IsExposed(const RawStack& stack, bool has_shims) {
  constexpr uint8_t kOwnedByThread = 0;
  return !has_shims && !stack.frames.empty() && stack.frames.back().owner == kOwnedByThread;
}

}  // namespace

std::string_view Name(Reject reason) {
  static constexpr std::array<std::string_view, kRejectCount> kNames = {
      "none", "torn", "unreadable", "bad frame", "bad instruction", "bad code", "thread gone"};
  return kNames.at(static_cast<size_t>(reason));
}

std::optional<RawFrame> ReadFrame(MemoryReader& memory, const Layout& layout, uint64_t address) {
  std::array<std::byte, 512> bytes{};
  if (!IsPlausiblePointer(address) || layout.frame.size > bytes.size()) return std::nullopt;
  if (!memory.ReadOne(address, bytes.data(), layout.frame.size)) return std::nullopt;
  const RawFrame frame = Decode(bytes, layout, address);
  if (frame.owner > kHighestOwner || !IsPlausiblePointer(frame.code)) return std::nullopt;
  return frame;
}

void WalkStack(MemoryReader& memory, Mirror& mirror, const Layout& layout, uint64_t thread, size_t most,
               uint64_t collecting, RawStack* stack) {
  stack->frames.clear();
  stack->truncated = false;
  stack->broken = Reject::kNone;
  uint64_t address = CurrentFrame(memory, mirror, layout, thread, &stack->broken);
  bool has_shims = false;
  bool ends_at_shim = true;
  uint64_t milestone = 0;  // the address at the last power of two: a ring comes back to it (Brent's method)
  for (size_t steps = 0; address != 0; ++steps) {
    if (address == milestone) {
      stack->frames.clear();  // where the stack ends and the ring begins cannot be told
      stack->broken = Reject::kBadFrame;
      break;
    }
    if (std::has_single_bit(steps)) milestone = address;
    const size_t marks = address == collecting ? 1 : 0;
    if (stack->frames.size() + marks >= most || steps >= most * kShimsPerFrame) {
      stack->truncated = true;
      break;
    }
    if (!IsPlausiblePointer(address)) {
      stack->broken = Reject::kBadFrame;
      break;
    }
    const auto bytes = mirror.Find(memory, address, layout.frame.size, /*lead=*/layout.minor >= 11);
    if (bytes.empty()) {
      stack->broken = Reject::kUnreadable;
      break;
    }
    const RawFrame frame = Decode(bytes, layout, address);
    const bool shim = frame.owner >= layout.frame.first_shim;
    if (frame.owner > kHighestOwner || (!shim && !IsPlausiblePointer(frame.code))) {
      stack->broken = Reject::kBadFrame;
      break;
    }
    address = FieldAt<uint64_t>(bytes, layout.frame.previous);
    ends_at_shim = shim || layout.frame.first_shim == kAbsent;
    has_shims |= ends_at_shim;
    if (shim) MarkEntry(&stack->frames);
    if (frame.address == collecting) stack->frames.push_back({.code = kCollectorMark});
    if (!shim) stack->frames.push_back(frame);
  }
  if (address == 0 && !ends_at_shim && stack->broken == Reject::kNone && !IsExposed(*stack, has_shims)) {
    // Each call from C begins with a shim: this frame is a generator's that is just being unlinked from its caller.
    stack->frames.clear();
    stack->broken = Reject::kTorn;
  }
}

bool Agree(const RawStack& first, const RawStack& second) {
  if (first.broken != second.broken || first.truncated != second.truncated) return false;
  if (first.frames.size() != second.frames.size()) return false;
  if (first.frames.empty()) return true;
  return first.frames[0].IsSamePlace(second.frames[0]) &&
         std::equal(first.frames.begin() + 1, first.frames.end(), second.frames.begin() + 1);
}

namespace {

using Frames = std::vector<RawFrame>;

// Where, in `frames`, the root-most frame of `other` lies; the end when there is none.
Frames::const_reverse_iterator RootOf(const Frames& other, const Frames& frames) {
  if (other.empty()) return frames.rend();
  return std::find_if(frames.rbegin(), frames.rend(),
                      [&](const RawFrame& frame) { return frame.address == other.back().address; });
}

}  // namespace

RawStack CommonRoot(const RawStack& first, const RawStack& second) {
  RawStack common;
  if (first.broken != Reject::kNone || second.broken != Reject::kNone) return common;
  auto a = first.frames.rbegin();
  auto b = second.frames.rbegin();
  common.truncated = first.truncated || second.truncated;
  if (common.truncated) {
    // Only the leaf-most frames are there: they begin where the shallower of the two copies does.
    if (const auto in_first = RootOf(second.frames, first.frames); in_first != first.frames.rend()) {
      a = in_first;
    } else {
      b = RootOf(first.frames, second.frames);
    }
  }
  const auto root = b;
  while (a != first.frames.rend() && b != second.frames.rend() && *a == *b) {
    ++a;
    ++b;
  }
  common.frames.assign(b.base(), root.base());
  if (a != first.frames.rend() && b != second.frames.rend() && a->IsSamePlace(*b)) {
    common.frames.insert(common.frames.begin(), *b);
  }
  return common;
}

}  // namespace wf::cpython
