// FrameTranslator: makes frames of code and line of frames as they lie in memory; of a stack only what is new in it.
//
// Not thread-safe.
#ifndef WF_CPYTHON_FRAME_TRANSLATOR_H_
#define WF_CPYTHON_FRAME_TRANSLATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpython/code_cache.h"
#include "cpython/layout.h"
#include "cpython/stack.h"

namespace wf::cpython {

struct Frame {
  std::shared_ptr<const Code> code;  // nullptr: its code object could not be read; a marker: no frame, see Code
  int32_t line = 0;                  // 0: none, or not known
  bool is_entry = false;             // as RawFrame::is_entry
  uint64_t address = 0;              // of the frame; for locals
};

// What frames were made of, to tell what has to be made anew. REQUIRES: one Translation goes with one vector of frames.
struct Translation {
  std::vector<RawFrame> raw;
  uint64_t epoch = 0;       // CodeCache::epoch()
  uint64_t generation = 0;  // CodeCache::generation()
  bool is_whole = false;    // each raw frame has its frame, all of them good
  Reject reject = Reject::kNone;
};

class FrameTranslator {
 public:
  // Both must outlive it.
  FrameTranslator(const Layout& layout, const CodeCache& codes) : layout_(layout), codes_(codes) {}

  // How many of the root-most frames are those of `done`, whose codes need not be looked at again: none was made since.
  size_t StillSound(const std::vector<RawFrame>& raw, const Translation& done) const;
  // REQUIRES: the codes were refreshed. Returns whether `frames` may have changed; `done->reject` says what was wrong.
  bool Translate(const std::vector<RawFrame>& raw, std::vector<Frame>* frames, Translation* done);

 private:
  // A place of a code that was looked up lately.
  struct Line {
    uint64_t code = 0;  // Code::id
    int64_t offset = 0;
    int32_t line = 0;
  };
  static constexpr size_t kLines = 1024;

  enum class Made { kGood, kBad, kNotBegun };
  Made Make(const RawFrame& raw, Frame* frame, Reject* reject);
  bool SetLine(const RawFrame& raw, Frame* frame);
  int32_t LineAt(const Code& code, int64_t offset);

  const Layout layout_;
  const CodeCache& codes_;
  const std::shared_ptr<const Code> collector_ = MakeMarker("<GC>");
  std::array<Line, kLines> lines_{};
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_FRAME_TRANSLATOR_H_
