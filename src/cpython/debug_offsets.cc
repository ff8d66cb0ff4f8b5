#include "cpython/debug_offsets.h"

#include <cstring>

#include "cpython/memory_reader.h"

namespace wf::cpython {
namespace {

// Largest offset or size that any of these structs can have (PyInterpreterState is about 270 KiB).
constexpr uint64_t kMostBytes = 4 << 20;

// Where the groups begin, in words from the beginning of the table. gc: 0 where it does not name the frame.
struct Places {
  uint32_t interpreter, ceval_gil, thread, frame, code, gc;
};

constexpr Places PlacesOf(uint32_t minor) {
  // 3 words of head and 3 of the runtime come first. 3.14 added threads_main, code_object_generation, tlbc_generation
  // to the interpreter and two to the frame; 3.15 three and four to the thread and one for the exception item.
  if (minor == 13) return {.interpreter = 6, .ceval_gil = 14, .thread = 19, .frame = 28, .code = 34, .gc = 0};
  if (minor == 14) return {.interpreter = 6, .ceval_gil = 15, .thread = 22, .frame = 31, .code = 39, .gc = 0};
  return {.interpreter = 6, .ceval_gil = 15, .thread = 22, .frame = 39, .code = 47, .gc = 94};
}

class Words {
 public:
  explicit Words(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Puts word `index` into `field`; remembers when it cannot be an offset.
  void Take(uint32_t index, uint32_t* field) {
    const auto word = FieldAt<uint64_t>(bytes_, size_t{index} * 8);
    sound_ &= word < kMostBytes && (size_t{index} + 1) * 8 <= bytes_.size();
    *field = static_cast<uint32_t>(word);
  }
  bool sound() const { return sound_; }

 private:
  std::span<const std::byte> bytes_;
  bool sound_ = true;
};

}  // namespace

DebugHeader ReadDebugHeader(std::span<const std::byte> runtime) {
  DebugHeader header;
  if (runtime.size() < 24 || std::memcmp(runtime.data(), "xdebugpy", 8) != 0) return header;
  header.present = true;
  header.version_hex = static_cast<uint32_t>(FieldAt<uint64_t>(runtime, 8));
  header.free_threaded = FieldAt<uint64_t>(runtime, 16) != 0;
  return header;
}

bool ApplyDebugOffsets(std::span<const std::byte> runtime, Layout* layout) {
  const Places at = PlacesOf(layout->minor);
  Words words(runtime);
  words.Take(5, &layout->runtime.interpreters_head);
  words.Take(at.interpreter + 1, &layout->interpreter.id);
  words.Take(at.interpreter + 2, &layout->interpreter.next);
  words.Take(at.interpreter + 3, &layout->interpreter.threads_head);
  words.Take(at.ceval_gil, &layout->interpreter.gil);
  words.Take(at.ceval_gil - 3, &layout->interpreter.modules);
  if (at.gc != 0) {
    uint32_t gc = 0;
    uint32_t frame = 0;
    words.Take(at.ceval_gil - 4, &gc);
    words.Take(at.gc + 2, &frame);
    layout->interpreter.collecting_frame = gc + frame;
  }
  uint32_t gil = 0;
  uint32_t locked = 0;
  uint32_t holder = 0;
  words.Take(at.ceval_gil + 1, &gil);
  words.Take(at.ceval_gil + 3, &locked);
  words.Take(at.ceval_gil + 4, &holder);
  layout->gil.switch_number += holder - gil - layout->gil.last_holder;  // it follows them in every version
  layout->gil.locked = locked - gil;
  layout->gil.last_holder = holder - gil;

  words.Take(at.thread + 2, &layout->thread.next);
  words.Take(at.thread + 3, &layout->thread.interpreter);
  words.Take(at.thread + 4, &layout->thread.frame);
  const uint32_t more = layout->minor >= 15 ? 3 : 0;  // base_frame, last_profiled_frame and its sequence
  words.Take(at.thread + more + 5, &layout->thread.thread_id);
  words.Take(at.thread + more + 6, &layout->thread.native_thread_id);
  const uint32_t before = layout->thread.datastack_chunk;
  words.Take(at.thread + more + 7, &layout->thread.datastack_chunk);
  layout->thread.datastack_top += layout->thread.datastack_chunk - before;
  layout->thread.id += layout->thread.datastack_chunk - before;

  words.Take(at.frame, &layout->frame.size);
  words.Take(at.frame + 1, &layout->frame.previous);
  words.Take(at.frame + 2, &layout->frame.code);
  words.Take(at.frame + 3, &layout->frame.instruction);
  words.Take(at.frame + 4, &layout->frame.locals);
  words.Take(at.frame + 5, &layout->frame.owner);

  words.Take(at.code + 1, &layout->code.filename);
  words.Take(at.code + 2, &layout->code.name);
  words.Take(at.code + 3, &layout->code.qualname);
  words.Take(at.code + 4, &layout->code.line_table);
  words.Take(at.code + 5, &layout->code.first_line);
  const uint32_t instructions = layout->code.instructions;
  words.Take(at.code + 9, &layout->code.instructions);
  layout->code.first_traceable += layout->code.instructions - instructions;
  return words.sound() && layout->gil.last_holder < kMostBytes && layout->gil.locked < kMostBytes;
}

}  // namespace wf::cpython
