// StackTable: strings, frames and stacks, each kept once and named by a small number.
#ifndef WF_PROFILE_STACK_TABLE_H_
#define WF_PROFILE_STACK_TABLE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "profile/index_table.h"

namespace wf::profile {

// Stored as its number: append, never renumber.
enum class FrameKind : uint8_t {
  kPython = 0,
  kNative = 1,
  kKernel = 2,
  kMarker = 3,  // no function: <GC>, <truncated>, an await, a task
};

// A place in a function. Names and file are numbers of strings.
struct Frame {
  FrameKind kind = FrameKind::kPython;
  uint32_t name = 0;
  uint32_t qualified_name = 0;  // 0: not known
  uint32_t file = 0;            // of native frames the library; 0: none
  int32_t first_line = 0;       // of the function; 0: not known
  int32_t line = 0;             // that runs; 0: not known

  bool operator==(const Frame&) const = default;
};

struct StackNode {
  uint32_t parent = 0;  // always smaller than the node's own number
  uint32_t frame = 0;
};

inline constexpr size_t kMaxTextBytes = 1'000;
inline constexpr size_t kMaxStrings = 1 << 18;
inline constexpr size_t kMaxFrames = 1 << 19;
inline constexpr size_t kMaxNodes = 1 << 20;

// Fixed numbers, there from the start.
inline constexpr uint32_t kEmptyText = 0;    // ""
inline constexpr uint32_t kNotKeptText = 1;  // "<not kept>", for what came after a table was full
inline constexpr uint32_t kNotKeptFrame = 0;
inline constexpr uint32_t kEmptyStack = 0;
inline constexpr uint32_t kNotKeptStack = 1;

class StackTable {
 public:
  StackTable();

  // The number of the text, after it was made valid UTF-8 and cut to kMaxTextBytes.
  uint32_t Intern(std::string_view text);
  // REQUIRES: its strings are numbers of this table.
  uint32_t AddFrame(const Frame& frame);
  // The stack `parent` with one more frame inside. REQUIRES: both are numbers of this table.
  uint32_t Push(uint32_t parent, uint32_t frame);

  // References stay good until the table goes.
  const std::string& text(uint32_t string) const { return strings_[string]; }
  const Frame& frame(uint32_t frame) const { return frames_[frame]; }
  const StackNode& node(uint32_t node) const { return nodes_[node]; }
  // The qualified name, or the name where there is none.
  const std::string& NameOf(const Frame& frame) const;

  size_t string_count() const { return strings_.size(); }
  size_t frame_count() const { return frames_.size(); }
  size_t node_count() const { return nodes_.size(); }
  // Texts, frames and stacks that found their table full.
  uint64_t not_kept() const { return not_kept_; }

 private:
  std::deque<std::string> strings_;
  std::deque<Frame> frames_;
  std::deque<StackNode> nodes_;
  IndexTable string_index_, frame_index_, node_index_;
  uint64_t not_kept_ = 0;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_STACK_TABLE_H_
