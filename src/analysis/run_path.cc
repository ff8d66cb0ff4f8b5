#include "analysis/run_path.h"

#include <algorithm>
#include <map>
#include <optional>

namespace wf::analysis {
namespace {

// Below this a ready node counts as started at once: hand-over between threads, not a lack of workers.
constexpr int64_t kQueuedNs = 1'000'000;

class PathFinder {
 public:
  explicit PathFinder(const RunIndex& index) : index_(index) {
    for (size_t i = 0; i < index.intervals.size(); ++i) {
      all_.push_back(i);
      by_worker_[WorkerOf(index.intervals[i])].push_back(i);
    }
    SortByEnd(&all_);
    for (auto& [worker, attempts] : by_worker_) SortByEnd(&attempts);
  }

  std::vector<PathStep> Find() const {
    std::vector<PathStep> path;
    if (all_.empty()) return path;
    std::optional<size_t> current = all_.back();
    int64_t until_ns = index_.intervals[*current].end_ns;
    while (current) {
      const Interval& interval = index_.intervals[*current];
      path.push_back({*current, interval.task, interval.start_ns, std::min(until_ns, interval.end_ns)});
      until_ns = interval.start_ns;
      current = Before(interval);
      // Each step starts strictly earlier than the one after it, whatever a damaged record says; so this ends.
      if (current && index_.intervals[*current].start_ns >= until_ns) current.reset();
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  static std::pair<uint32_t, int32_t> WorkerOf(const Interval& interval) {
    return {interval.attempt->process, interval.attempt->worker};
  }

  void SortByEnd(std::vector<size_t>* attempts) const {
    std::stable_sort(attempts->begin(), attempts->end(),
                     [this](size_t a, size_t b) { return index_.intervals[a].end_ns < index_.intervals[b].end_ns; });
  }

  // The attempt among these that ended last before `time_ns`.
  std::optional<size_t> LastEnded(const std::vector<size_t>& attempts, int64_t time_ns) const {
    const auto after = std::upper_bound(attempts.begin(), attempts.end(), time_ns,
                                        [this](int64_t time, size_t i) { return time < index_.intervals[i].end_ns; });
    if (after == attempts.begin()) return std::nullopt;
    return *std::prev(after);
  }

  std::optional<size_t> LastDependency(size_t node) const {
    std::optional<size_t> last;
    for (const size_t dependency : index_.dependencies[node]) {
      for (const size_t i : index_.of_node[dependency]) {
        if (!last || index_.intervals[i].end_ns > index_.intervals[*last].end_ns) last = i;
      }
    }
    return last;
  }

  std::optional<size_t> Before(const Interval& interval) const {
    const size_t node = interval.node->id - 1;
    const std::vector<size_t>& own = index_.of_node[node];
    for (size_t k = 1; k < own.size(); ++k) {
      if (index_.intervals[own[k]].attempt == interval.attempt) return own[k - 1];
    }
    const int64_t ready = interval.node->ready_ns;
    if (ready != 0 && interval.start_ns - ready > kQueuedNs) {
      const auto worker = by_worker_.find(WorkerOf(interval));
      if (interval.attempt->worker >= 0 && worker != by_worker_.end()) {
        const std::optional<size_t> freed = LastEnded(worker->second, interval.start_ns);
        if (freed && index_.intervals[*freed].end_ns > ready) return freed;
      }
      const std::optional<size_t> any = LastEnded(all_, interval.start_ns);
      if (any && index_.intervals[*any].end_ns > ready) return any;
    }
    return LastDependency(node);
  }

  const RunIndex& index_;
  std::vector<size_t> all_;
  std::map<std::pair<uint32_t, int32_t>, std::vector<size_t>> by_worker_;
};

}  // namespace

std::vector<PathStep> FindRunPath(const RunIndex& index) { return PathFinder(index).Find(); }

}  // namespace wf::analysis
