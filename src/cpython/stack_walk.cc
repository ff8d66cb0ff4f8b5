// The walk over the frames of a thread, leaf first.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "cpython/stack.h"

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

// What a frame holds.
class FrameDecoder {
 public:
  explicit FrameDecoder(const Layout& layout)
      : at_(layout.frame),
        has_owner_(at_.owner != kAbsent),
        has_entry_(at_.is_entry != kAbsent),
        has_index_(at_.instruction_bytes != kAbsent) {
    is_sound_ = Fits(at_.previous, 8) && Fits(at_.code, 8) && Fits(at_.instruction, has_index_ ? 4 : 8) &&
                (!has_owner_ || Fits(at_.owner, 1)) && (!has_entry_ || Fits(at_.is_entry, 1));
  }

  // False: the layout, which newer targets tell themselves, has fields outside its frames. Nothing can be decoded then.
  bool is_sound() const { return is_sound_; }

  // REQUIRES: is_sound, and `bytes` has the size of a frame.
  RawFrame Decode(const std::byte* bytes, uint64_t address) const {
    RawFrame frame;
    frame.address = address;
    frame.code = Field<uint64_t>(bytes, at_.code) & ~kTagBits;
    if (has_owner_) frame.owner = Field<uint8_t>(bytes, at_.owner);
    // Until 3.10 each frame has a call of the evaluation loop of its own; from 3.12 on a shim follows an entry frame,
    // which the walk sees.
    frame.is_entry = has_entry_ ? Field<uint8_t>(bytes, at_.is_entry) != 0 : at_.first_shim == kAbsent;
    frame.instruction = has_index_ ? static_cast<uint64_t>(int64_t{Field<int32_t>(bytes, at_.instruction)})
                                   : Field<uint64_t>(bytes, at_.instruction);
    return frame;
  }
  uint64_t Previous(const std::byte* bytes) const { return Field<uint64_t>(bytes, at_.previous); }
  bool IsShim(const RawFrame& frame) const { return frame.owner >= at_.first_shim; }

 private:
  bool Fits(uint32_t offset, uint32_t bytes) const { return bytes <= at_.size && offset <= at_.size - bytes; }

  template <typename T>
  static T Field(const std::byte* bytes, uint32_t offset) {
    T value{};
    std::memcpy(&value, bytes + offset, sizeof(value));
    return value;
  }

  const decltype(Layout::frame) at_;
  const bool has_owner_;
  const bool has_entry_;
  const bool has_index_;
  bool is_sound_ = false;
};

// Copies of frames. They mostly lie side by side, so that what holds one holds the next.
class FrameFinder {
 public:
  FrameFinder(MemoryReader& memory, Mirror& mirror, const Layout& layout)
      : memory_(memory), mirror_(mirror), bytes_(layout.frame.size), lead_(layout.minor >= 11) {}
  FrameFinder(const FrameFinder&) = delete;
  FrameFinder& operator=(const FrameFinder&) = delete;
  ~FrameFinder() { Leave(); }

  // The frame at `address`; null when it cannot be read.
  const std::byte* Find(uint64_t address) {
    if ((address < begin_ || address > last_) && !Enter(address)) return nullptr;
    lowest_ = std::min(lowest_, address);
    highest_ = std::max(highest_, address);
    return at_begin_ + (address - begin_);
  }

 private:
  bool Enter(uint64_t address) {
    Leave();
    const auto area = mirror_.FindArea(memory_, address, bytes_, lead_, &begin_);
    if (area.empty()) return false;
    at_begin_ = area.data();
    last_ = begin_ + area.size() - bytes_;
    lowest_ = highest_ = address;
    return true;
  }

  void Leave() {
    if (last_ != 0) mirror_.Use(lowest_, highest_ - lowest_ + bytes_);
    begin_ = 1;
    last_ = 0;
  }

  MemoryReader& memory_;
  Mirror& mirror_;
  const size_t bytes_;
  const bool lead_;
  uint64_t begin_ = 1;  // addresses that a frame can begin at within the area; there is none when last_ is 0
  uint64_t last_ = 0;
  const std::byte* at_begin_ = nullptr;
  uint64_t lowest_ = 0;  // of the frames found in it
  uint64_t highest_ = 0;
};

// What stands before a shim is the outermost frame of its call.
void MarkEntry(std::vector<RawFrame>* frames) {
  if (!frames->empty() && frames->back().code != kCollectorMark) frames->back().is_entry = true;
}

class StackWalk {
 public:
  StackWalk(MemoryReader& memory, Mirror& mirror, const Layout& layout, size_t most, uint64_t collecting,
            RawStack* stack)
      : decoder_(layout),
        frames_(memory, mirror, layout),
        most_(most),
        collecting_(collecting),
        has_shims_(layout.frame.first_shim != kAbsent),
        stack_(*stack) {}

  void From(uint64_t address) {
    if (!decoder_.is_sound() && address != 0) return End(Reject::kBadFrame);
    size_t next_milestone = 1;
    uint64_t milestone = 0;  // the address at the last power of two: a ring comes back to it (Brent's method)
    for (size_t steps = 0; address != 0; ++steps) {
      if (address == milestone) {
        stack_.frames.clear();  // where the stack ends and the ring begins cannot be told
        return End(Reject::kBadFrame);
      }
      if (steps == next_milestone) {
        milestone = address;
        next_milestone *= 2;
      }
      const size_t marks = address == collecting_ ? 1 : 0;
      if (stack_.frames.size() + marks >= most_ || steps >= most_ * kShimsPerFrame) {
        stack_.truncated = true;
        return;
      }
      if (!Take(&address)) return;
    }
    if (is_rooted_ || IsExposed()) return;
    // Each call from C begins with a shim: this frame is a generator's that is just being unlinked from its caller.
    stack_.frames.clear();
    End(Reject::kTorn);
  }

 private:
  void End(Reject why) { stack_.broken = why; }

  // Whether it is the stack of a greenlet that is just being switched from or to: the greenlet library relinks its
  // frames then, without any shim, because shims lie on the C stack that is being exchanged, and ends the chain at the
  // last one.
  bool IsExposed() const {
    constexpr uint8_t kOwnedByThread = 0;
    return !has_met_shim_ && !stack_.frames.empty() && stack_.frames.back().owner == kOwnedByThread;
  }

  // The frame at `address`, which becomes that of its caller. False: the walk ends here, and `stack` says why.
  bool Take(uint64_t* address) {
    const std::byte* bytes = IsPlausiblePointer(*address) ? frames_.Find(*address) : nullptr;
    if (bytes == nullptr) {
      End(IsPlausiblePointer(*address) ? Reject::kUnreadable : Reject::kBadFrame);
      return false;
    }
    const RawFrame frame = decoder_.Decode(bytes, *address);
    const bool shim = decoder_.IsShim(frame);
    if (frame.owner > kHighestOwner || (!shim && !IsPlausiblePointer(frame.code))) {
      End(Reject::kBadFrame);
      return false;
    }
    is_rooted_ = shim || !has_shims_;
    has_met_shim_ |= shim;
    if (shim) MarkEntry(&stack_.frames);
    if (*address == collecting_) stack_.frames.push_back({.code = kCollectorMark});
    if (!shim) stack_.frames.push_back(frame);
    *address = decoder_.Previous(bytes);
    return true;
  }

  const FrameDecoder decoder_;
  FrameFinder frames_;
  const size_t most_;
  const uint64_t collecting_;
  const bool has_shims_;
  bool is_rooted_ = true;
  bool has_met_shim_ = false;
  RawStack& stack_;
};

}  // namespace

std::optional<RawFrame> ReadFrame(MemoryReader& memory, const Layout& layout, uint64_t address) {
  std::array<std::byte, 512> bytes{};
  if (!IsPlausiblePointer(address) || layout.frame.size > bytes.size()) return std::nullopt;
  if (!memory.ReadOne(address, bytes.data(), layout.frame.size)) return std::nullopt;
  const FrameDecoder decoder(layout);
  if (!decoder.is_sound()) return std::nullopt;
  const RawFrame frame = decoder.Decode(bytes.data(), address);
  if (frame.owner > kHighestOwner || !IsPlausiblePointer(frame.code)) return std::nullopt;
  return frame;
}

void WalkStack(MemoryReader& memory, Mirror& mirror, const Layout& layout, uint64_t thread, size_t most,
               uint64_t collecting, RawStack* stack) {
  stack->frames.clear();
  stack->truncated = false;
  stack->broken = Reject::kNone;
  const uint64_t leaf = CurrentFrame(memory, mirror, layout, thread, &stack->broken);
  if (stack->broken == Reject::kNone) StackWalk(memory, mirror, layout, most, collecting, stack).From(leaf);
}

}  // namespace wf::cpython
