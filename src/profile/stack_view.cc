#include "profile/stack_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/file_names.h"

namespace wf::profile {
namespace {

constexpr uint32_t kNone = IndexTable::kNone;

std::string_view UnnamedLabel(FrameKind kind) { return kind == FrameKind::kPython ? "<unnamed>" : "<unknown>"; }

}  // namespace

StackView::StackView(const StackProfile& profile, const ExportOptions& options)
    : profile_(profile), options_(options), nodes_(1), shown_(profile.table.frame_count(), kNone) {
  std::vector<std::string_view> files;
  for (uint32_t i = 0; i < profile.table.frame_count(); ++i) {
    files.emplace_back(profile.table.text(profile.table.frame(i).file));
  }
  short_files_ = ShortFileNames(files);
}

bool StackView::Includes(const StackSample& sample) const {
  if (sample.weight_ns == 0) return false;
  // A thread that waits for a task to come is no part of any.
  if (options_.task_of && sample.attempt == 0 && (sample.state & kIdle) != 0) return false;
  if (options_.attempts && options_.attempts->count(sample.attempt) == 0) return false;
  switch (options_.selection) {
    case StackSelection::kActive: return (sample.state & kIdle) == 0;
    case StackSelection::kGil: return (sample.state & kHoldsGil) != 0;
    case StackSelection::kAll: break;
  }
  return true;
}

std::string StackView::LabelOf(const ShownFrame& frame) const {
  std::string label = frame.name.empty() ? std::string(UnnamedLabel(frame.kind)) : frame.name;
  if (frame.kind == FrameKind::kMarker) return label;
  if (frame.file.empty()) return frame.kind == FrameKind::kPython ? label + " (<no filename>)" : label;
  const auto shortened = short_files_.find(frame.file);
  const std::string& file =
      options_.full_file_names || shortened == short_files_.end() ? frame.file : shortened->second;
  return frame.line > 0 ? fmt::format("{} ({}:{})", label, file, frame.line) : fmt::format("{} ({})", label, file);
}

uint32_t StackView::ShownFrameOf(uint32_t index) {
  if (shown_[index] != kNone) return shown_[index];
  const StackTable& table = profile_.table;
  const Frame& frame = table.frame(index);
  int32_t line = options_.by_function ? frame.first_line : frame.line;
  if (!options_.line_numbers) line = 0;
  // Without line numbers, two functions of one name in one file are still two: lambdas, methods of unnamed classes.
  const int32_t key_line = options_.line_numbers ? line : frame.first_line;
  const auto key =
      std::tuple(frame.kind, std::string_view(table.NameOf(frame)), std::string_view(table.text(frame.file)), key_line);
  const auto [at, is_new] = merged_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
  if (is_new) {
    ShownFrame& shown = frames_.emplace_back();
    shown.kind = frame.kind;
    shown.name = table.NameOf(frame);
    shown.file = table.text(frame.file);
    shown.first_line = frame.first_line;
    shown.line = line;
    shown.module = ModuleOf(frame.kind, shown.file);
    shown.label = LabelOf(shown);
  }
  return shown_[index] = at->second;
}

uint32_t StackView::MarkerFrame(const std::string& label) {
  const auto [at, is_new] = markers_.try_emplace(label, static_cast<uint32_t>(frames_.size()));
  if (is_new) {
    ShownFrame& frame = frames_.emplace_back();
    frame.kind = FrameKind::kMarker;
    frame.name = frame.label = label;
  }
  return at->second;
}

uint32_t StackView::Child(uint32_t parent, uint32_t frame) {
  const auto [at, is_new] = children_.try_emplace({parent, frame}, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, frame});
  return at->second;
}

uint32_t StackView::TaskNode(uint64_t attempt) {
  const auto [at, is_new] = task_nodes_.try_emplace(attempt);
  if (!is_new) return at->second;
  const std::string task = attempt == 0 ? std::string() : options_.task_of(attempt);
  return at->second = Child(0, MarkerFrame(task.empty() ? "(outside of tasks)" : fmt::format("task {}", task)));
}

uint32_t StackView::OuterNode(const StackSample& sample) {
  const uint32_t task = options_.task_of ? TaskNode(sample.attempt) : 0;
  const auto [at, is_new] = outer_.try_emplace({task, sample.thread});
  if (!is_new) return at->second;
  const StackThread& thread = profile_.threads[sample.thread];
  uint32_t node = task;
  if (options_.processes) node = Child(node, MarkerFrame(ProcessLabel(thread)));
  if (options_.threads) node = Child(node, MarkerFrame(ThreadLabel(thread)));
  return at->second = node;
}

uint32_t StackView::NodeOf(const StackSample& sample) {
  const uint32_t outer = OuterNode(sample);
  std::vector<uint32_t>& known = node_of_stack_[outer];
  if (known.empty()) {
    known.assign(profile_.table.node_count(), kNone);
    known[kEmptyStack] = outer;
  }
  // Up to what is known, then down again: stacks may be thousands deep, so no recursion.
  std::vector<uint32_t> missing;
  uint32_t stack = sample.stack;
  for (; known[stack] == kNone; stack = profile_.table.node(stack).parent) missing.push_back(stack);
  for (; !missing.empty(); missing.pop_back()) {
    const uint32_t parent = known[profile_.table.node(missing.back()).parent];
    known[missing.back()] = Child(parent, ShownFrameOf(profile_.table.node(missing.back()).frame));
  }
  return known[sample.stack];
}

std::vector<FoldedWeight> StackView::Fold() {
  std::vector<FoldedWeight> weights(1);
  for (const StackSample& sample : profile_.samples) {
    if (!Includes(sample)) continue;
    const uint32_t node = NodeOf(sample);
    if (node >= weights.size()) weights.resize(nodes_.size());
    weights[node].self_ns += sample.weight_ns;
    weights[node].self_count += sample.count;
  }
  weights.resize(nodes_.size());
  for (size_t i = weights.size(); i-- > 0;) {
    weights[i].total_ns += weights[i].self_ns;
    weights[i].total_count += weights[i].self_count;
    if (i == 0) break;
    weights[nodes_[i].parent].total_ns += weights[i].total_ns;
    weights[nodes_[i].parent].total_count += weights[i].total_count;
  }
  return weights;
}

std::vector<uint32_t> StackView::PathTo(uint32_t node) const {
  std::vector<uint32_t> path;
  for (; node != 0; node = nodes_[node].parent) path.push_back(nodes_[node].frame);
  std::reverse(path.begin(), path.end());
  return path;
}

const Process* StackView::process_of(const StackThread& thread) const {
  for (const Process& process : profile_.processes) {
    if (process.id == thread.process) return &process;
  }
  return nullptr;
}

std::string StackView::ThreadLabel(const StackThread& thread) const {
  return thread.name.empty() ? fmt::format("thread {}", thread.tid)
                             : fmt::format("thread {} ({})", thread.tid, thread.name);
}

std::string StackView::ProcessLabel(const StackThread& thread) const {
  const Process* process = process_of(thread);
  if (process == nullptr) return "process ?";
  return process->name.empty() ? fmt::format("process {}", process->pid)
                               : fmt::format("process {} ({})", process->pid, process->name);
}

}  // namespace wf::profile
