#include "analysis/hot_spots.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/file_names.h"

namespace wf::analysis {
namespace {

using profile::Frame;
using profile::StackProfile;
using profile::StackSample;

constexpr uint32_t kNoTask = UINT32_MAX;

struct Sum {
  int64_t weight_ns = 0;
  int64_t waiting_ns = 0;
  uint64_t samples = 0;
  std::map<uint32_t, int64_t> leaves;  // innermost frame of a library -> weight

  void Add(const StackSample& sample) {
    weight_ns += sample.weight_ns;
    if ((sample.state & profile::kIdle) != 0) waiting_ns += sample.weight_ns;
    samples += sample.count;
  }
};

// A function's line: frames differ in more than is shown.
using Place = std::tuple<std::string_view, std::string_view, int32_t>;  // function, file, line

class Finder {
 public:
  explicit Finder(const StackProfile& stacks) : stacks_(stacks) {
    std::vector<std::string_view> files;
    for (uint32_t i = 0; i < stacks.table.frame_count(); ++i) {
      const Frame& frame = stacks.table.frame(i);
      files.emplace_back(stacks.table.text(frame.file));
      is_own_.push_back(frame.kind == profile::FrameKind::kPython &&
                        profile::ModuleOf(frame.kind, files.back()).empty());
    }
    short_files_ = profile::ShortFileNames(files);
  }

  void Add(uint32_t task, const StackSample& sample) {
    if (sample.weight_ns == 0 || sample.stack == profile::kEmptyStack) return;
    const auto [own, leaf] = FramesOf(sample.stack);
    tasks_[task].total.Add(sample);
    Sum& sum = tasks_[task].places[PlaceOf(own)];
    sum.Add(sample);
    if (leaf != own) sum.leaves[leaf] += sample.weight_ns;
  }

  TaskHotSpots Of(uint32_t task, std::string name, size_t most) const {
    const Task& found = tasks_.at(task);
    TaskHotSpots result{std::move(name), found.total.weight_ns, found.total.samples, {}};
    for (const auto& [place, sum] : found.places) {
      HotSpot& spot = result.spots.emplace_back();
      spot.function = std::get<0>(place);
      const auto file = short_files_.find(std::get<1>(place));
      spot.file = file == short_files_.end() ? std::string(std::get<1>(place)) : file->second;
      spot.line = std::get<2>(place);
      spot.weight_ns = sum.weight_ns;
      spot.waiting_ns = sum.waiting_ns;
      spot.samples = sum.samples;
      spot.share = static_cast<double>(sum.weight_ns) / static_cast<double>(found.total.weight_ns);
      spot.calls = MostlyCalled(sum);
    }
    std::stable_sort(result.spots.begin(), result.spots.end(),
                     [](const HotSpot& a, const HotSpot& b) { return a.weight_ns > b.weight_ns; });
    if (result.spots.size() > most) result.spots.resize(most);
    return result;
  }

  std::vector<uint32_t> tasks() const {
    std::vector<uint32_t> ids;
    for (const auto& [task, found] : tasks_) {
      if (found.total.weight_ns > 0) ids.push_back(task);
    }
    return ids;
  }

 private:
  struct Task {
    Sum total;
    std::map<Place, Sum> places;
  };

  Place PlaceOf(uint32_t index) const {
    const Frame& frame = stacks_.table.frame(index);
    return {stacks_.table.NameOf(frame), stacks_.table.text(frame.file), frame.line};
  }

  // The innermost frame of the program's own code (the innermost of all when there is none), and the innermost of all.
  std::pair<uint32_t, uint32_t> FramesOf(uint32_t stack) {
    if (own_of_.size() <= stack) own_of_.resize(stacks_.table.node_count(), kNoTask);
    const uint32_t leaf = stacks_.table.node(stack).frame;
    uint32_t& own = own_of_[stack];
    if (own != kNoTask) return {own, leaf};
    own = leaf;
    for (uint32_t node = stack; node != profile::kEmptyStack; node = stacks_.table.node(node).parent) {
      if (!is_own_[stacks_.table.node(node).frame]) continue;
      own = stacks_.table.node(node).frame;
      break;
    }
    return {own, leaf};
  }

  // Only when it is most of what was spent there.
  std::string MostlyCalled(const Sum& sum) const {
    std::map<std::string_view, int64_t> by_name;
    for (const auto& [leaf, weight] : sum.leaves) {
      by_name[stacks_.table.NameOf(stacks_.table.frame(leaf))] += weight;
    }
    for (const auto& [name, weight] : by_name) {
      if (weight > sum.weight_ns / 2) return std::string(name);
    }
    return {};
  }

  const StackProfile& stacks_;
  std::vector<bool> is_own_;  // of the table's frames
  std::map<std::string_view, std::string> short_files_;
  std::vector<uint32_t> own_of_;  // of the table's nodes
  std::map<uint32_t, Task> tasks_;
};

}  // namespace

std::unordered_map<uint64_t, uint32_t> TaskOfAttempts(const profile::RunRecord& record) {
  std::unordered_map<uint64_t, uint32_t> tasks;
  for (const profile::Attempt& attempt : record.attempts) {
    tasks[attempt.id] = record.nodes[attempt.node - 1].task - 1;
  }
  return tasks;
}

HotSpots FindHotSpots(const StackProfile& stacks, const profile::RunRecord& record, size_t most) {
  HotSpots result;
  result.meta = stacks.meta;
  Finder finder(stacks);
  const std::unordered_map<uint64_t, uint32_t> task_of = TaskOfAttempts(record);
  const bool is_recording = record.run.kind == profile::RunKind::kRecording;
  for (const StackSample& sample : stacks.samples) {
    if (const auto task = task_of.find(sample.attempt); task != task_of.end()) {
      finder.Add(task->second, sample);
    } else if (is_recording && (sample.state & profile::kIdle) == 0) {
      finder.Add(kNoTask, sample);
    }
  }
  for (const uint32_t task : finder.tasks()) {
    result.tasks.push_back(finder.Of(task, task == kNoTask ? "" : record.tasks[task].name, most));
  }
  std::stable_sort(result.tasks.begin(), result.tasks.end(),
                   [](const TaskHotSpots& a, const TaskHotSpots& b) { return a.weight_ns > b.weight_ns; });
  return result;
}

}  // namespace wf::analysis
