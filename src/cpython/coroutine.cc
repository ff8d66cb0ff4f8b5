#include "cpython/coroutine.h"

#include <algorithm>
#include <optional>
#include <string>

#include "cpython/value_text.h"

namespace wf::cpython {
namespace {

constexpr uint64_t kTagBits = 7;  // of references in frames from 3.14 on
constexpr size_t kMostSteps = 3 * kMostAwaits;
constexpr size_t kMostLocals = 1 << 16;

enum class Progress { kOther, kRunning, kSuspended, kAwaits };

struct Generator {
  uint64_t frame = 0;
  Progress progress = Progress::kOther;
  std::optional<RawFrame> raw;
};

bool IsGeneratorName(const std::string& type) {
  return type == "coroutine" || type == "generator" || type == "async_generator";
}

// Objects whose one reference, right behind the head, leads on to the coroutine that does the work.
bool IsBetween(const std::string& type) {
  return type == "coroutine_wrapper" || type == "async_generator_asend" || type == "async_generator_athrow" ||
         type == "anext_awaitable";
}

// PyFrameState, Include/internal/pycore_frame.h of each version; 3.10's in Include/cpython/frameobject.h. Until 3.12
// the instruction tells an await from a yield.
Progress ProgressOfState(uint32_t minor, int8_t state) {
  if (minor <= 12) return state == 0 ? Progress::kRunning : state == -1 ? Progress::kSuspended : Progress::kOther;
  const int8_t suspended = minor >= 15 ? 1 : -2;
  const int8_t executing = minor >= 15 ? 4 : 0;
  if (state == executing) return Progress::kRunning;
  if (state == suspended) return Progress::kSuspended;
  const bool awaits = minor >= 15 ? state == 2 || state == 3 : state == -1;
  return awaits ? Progress::kAwaits : Progress::kOther;
}

// Whether the instruction at which a suspended frame stopped is an await or a `yield from`.
bool IsAtAwait(MemoryReader& memory, const Layout& layout, const RawFrame& frame) {
  if (layout.minor >= 11) {
    // A RESUME follows, whose argument says after what: 1 a yield, 2 a `yield from`, 3 an await.
    const auto argument = memory.Get<uint8_t>(frame.instruction + 3);
    return argument && (*argument & 3) >= 2;
  }
  constexpr uint8_t kYieldFrom = 72;  // what comes next in 3.8 to 3.10
  const auto last = static_cast<int64_t>(frame.instruction);
  if (last < 0 || last > INT32_MAX) return false;
  const auto code = memory.Get<uint64_t>(frame.code + layout.code.instructions).value_or(0);
  const uint64_t next = static_cast<uint64_t>(last) * layout.frame.instruction_bytes + 2;
  return IsPlausiblePointer(code) && memory.Get<uint8_t>(code + layout.bytes.data + next) == kYieldFrom;
}

Generator ReadGenerator(MemoryReader& memory, const Layout& layout, uint64_t object) {
  const auto& at = layout.generator;
  Generator generator;
  const bool is_inline = layout.minor >= 11;
  generator.frame = is_inline ? object + at.frame : memory.Get<uint64_t>(object + at.frame).value_or(0);
  if (!IsPlausiblePointer(generator.frame)) return generator;  // it has ended
  if (at.running != kAbsent) {
    const auto running = memory.Get<uint8_t>(object + at.running);
    if (!running) return generator;
    generator.progress = *running != 0 ? Progress::kRunning : Progress::kSuspended;
  } else {
    const uint64_t state = is_inline ? object + at.state : generator.frame + at.frame_state;
    const auto value = memory.Get<int8_t>(state);
    if (!value) return generator;
    const bool not_begun = *value == (layout.minor >= 15 ? 0 : layout.minor >= 13 ? -3 : -2);
    generator.progress = ProgressOfState(layout.minor, *value);
    if (generator.progress == Progress::kOther && !not_begun) return generator;
  }
  generator.raw = ReadFrame(memory, layout, generator.frame);
  if (generator.raw && generator.progress == Progress::kSuspended && layout.minor <= 12 &&
      IsAtAwait(memory, layout, *generator.raw)) {
    generator.progress = Progress::kAwaits;
  }
  return generator;
}

// What the frame awaits: it lies on top of its stack of values, from 3.15 on below an index (null_or_index of SEND).
uint64_t AwaitedBy(MemoryReader& memory, const Layout& layout, uint64_t frame) {
  const auto& at = layout.generator;
  uint64_t top = 0;
  if (layout.minor <= 9 || layout.minor >= 14) {
    top = memory.Get<uint64_t>(frame + at.stack_top).value_or(0);
  } else {
    const auto count = memory.Get<int32_t>(frame + at.stack_top).value_or(0);
    if (count <= 0 || static_cast<size_t>(count) > kMostLocals) return 0;
    const uint64_t base =
        layout.minor == 10 ? memory.Get<uint64_t>(frame + at.value_stack).value_or(0) : frame + layout.frame.locals;
    if (!IsPlausiblePointer(base)) return 0;
    top = base + static_cast<uint64_t>(count) * 8;
  }
  const uint64_t depth = layout.minor >= 15 ? 16 : 8;
  return IsPlausiblePointer(top) ? memory.Get<uint64_t>(top - depth).value_or(0) & ~kTagBits : 0;
}

}  // namespace

bool IsCoroutine(MemoryReader& memory, const Layout& layout, uint64_t object) {
  const auto type = ValueText(memory, layout, {}).TypeName(object);
  return type && IsGeneratorName(*type);
}

AwaitChain ReadAwaitChain(MemoryReader& memory, const Layout& layout, uint64_t object) {
  AwaitChain chain;
  ValueText types(memory, layout, {});
  for (size_t step = 0; step < kMostSteps && object != 0; ++step) {
    const auto type = types.TypeName(object);
    if (!type) break;
    if (IsBetween(*type) || *type == "FutureIter") {
      object = memory.Get<uint64_t>(object + layout.object.type + 8).value_or(0);
      if (*type != "FutureIter") continue;
      chain.awaited = object;
      break;
    }
    if (!IsGeneratorName(*type)) {
      chain.awaited = object;
      break;
    }
    const Generator generator = ReadGenerator(memory, layout, object);
    if (!generator.raw) break;
    if (chain.frames.size() >= kMostAwaits) {
      chain.truncated = true;
      break;
    }
    chain.frames.push_back(*generator.raw);
    chain.running = generator.progress == Progress::kRunning;
    object = generator.progress == Progress::kAwaits ? AwaitedBy(memory, layout, generator.frame) : 0;
  }
  std::reverse(chain.frames.begin(), chain.frames.end());
  return chain;
}

}  // namespace wf::cpython
