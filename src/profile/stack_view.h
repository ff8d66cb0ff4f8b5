// StackView: a profile as one set of options shows it: frames merged and named, threads and processes as outer frames,
// samples that are left out. The part that all exports share.
#ifndef WF_PROFILE_STACK_VIEW_H_
#define WF_PROFILE_STACK_VIEW_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/export.h"
#include "profile/stacks.h"

namespace wf::profile {

struct ShownFrame {
  FrameKind kind = FrameKind::kPython;
  std::string name;
  std::string file;    // whole
  std::string label;   // "name (file:line)"; as recorded, not escaped for any format
  std::string module;  // for colours: the package, "" for the program's own code
  int32_t first_line = 0;
  int32_t line = 0;  // 0: none is shown
};

// Of a node of the view's tree, by its number.
struct FoldedWeight {
  int64_t self_ns = 0;
  int64_t total_ns = 0;
  uint64_t self_count = 0;
  uint64_t total_count = 0;
};

class StackView {
 public:
  // Both must live as long as the view.
  StackView(const StackProfile& profile, const ExportOptions& options);

  // Whether the options let the sample in. What weighs nothing in this mode is out.
  bool Includes(const StackSample& sample) const;
  // Its node in the tree below; makes what is missing.
  uint32_t NodeOf(const StackSample& sample);
  // All samples that are in, folded.
  std::vector<FoldedWeight> Fold();

  // Node 0 is the root, without a frame; a parent's number is smaller than its children's.
  size_t node_count() const { return nodes_.size(); }
  const StackNode& node(uint32_t node) const { return nodes_[node]; }
  const ShownFrame& frame_of(uint32_t node) const { return frames_[nodes_[node].frame]; }
  const std::vector<ShownFrame>& frames() const { return frames_; }
  // Frame numbers from the outermost to the innermost.
  std::vector<uint32_t> PathTo(uint32_t node) const;

  const StackProfile& profile() const { return profile_; }
  const Process* process_of(const StackThread& thread) const;
  // "thread 4711 (MainThread)", "process 4700 (worker 1)".
  std::string ThreadLabel(const StackThread& thread) const;
  std::string ProcessLabel(const StackThread& thread) const;

 private:
  uint32_t ShownFrameOf(uint32_t frame);
  uint32_t OuterNode(const StackSample& sample);
  uint32_t TaskNode(uint64_t attempt);
  uint32_t Child(uint32_t parent, uint32_t frame);
  uint32_t MarkerFrame(const std::string& label);
  std::string LabelOf(const ShownFrame& frame) const;

  const StackProfile& profile_;
  const ExportOptions& options_;
  std::vector<ShownFrame> frames_;
  std::vector<StackNode> nodes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> children_;
  std::map<std::string, uint32_t> markers_;
  std::map<std::tuple<FrameKind, std::string_view, std::string_view, int32_t>, uint32_t> merged_;
  std::vector<uint32_t> shown_;                              // of the table's frames; kNone: not yet
  std::map<uint32_t, std::vector<uint32_t>> node_of_stack_;  // outer node -> of the table's nodes
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> outer_;  // by node of the task and thread
  std::unordered_map<uint64_t, uint32_t> task_nodes_;        // by attempt
  std::map<std::string_view, std::string> short_files_;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_STACK_VIEW_H_
