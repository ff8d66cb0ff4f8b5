#include "context/position_reader.h"

#include <algorithm>

namespace wf::context {
namespace {

// To look for the page means to read all of /proc/<pid>/maps.
constexpr int64_t kFirstPauseNs = 10'000'000;
constexpr int64_t kLongestPauseNs = 1'000'000'000;

}  // namespace

bool PositionReader::FindPage(int64_t time_ns) {
  if (page_) return true;
  if (time_ns < next_look_ns_) return false;
  const Result<PageAddress> found = FindPageOf(pid_);
  if (found.ok()) {
    page_ = *found;
    pause_ns_ = 0;
    return true;
  }
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPauseNs, kLongestPauseNs);
  next_look_ns_ = time_ns + pause_ns_;
  return false;
}

void PositionReader::Before(int64_t time_ns) {
  before_.clear();
  sure_.clear();
  any_sampled_ = false;
  if (!FindPage(time_ns)) return;
  const Result<Snapshot> page = ReadPage(pid_, *page_, &scratch_);
  if (!page.ok()) {
    page_.reset();  // it ended, or executes another program
    return;
  }
  for (const ThreadEntry& entry : page->threads) {
    before_.emplace(entry.tid, entry);
    any_sampled_ |= entry.sampled;
  }
}

void PositionReader::After() {
  if (before_.empty()) return;
  const Result<Snapshot> page = ReadPage(pid_, *page_, &scratch_);
  if (!page.ok()) return;
  for (const ThreadEntry& entry : page->threads) {
    const auto same = before_.find(entry.tid);
    if (same != before_.end() && same->second.sequence == entry.sequence) sure_.emplace(entry.tid, entry);
  }
}

const ThreadEntry* PositionReader::Find(int32_t tid) const {
  const auto found = sure_.find(tid);
  return found == sure_.end() ? nullptr : &found->second;
}

}  // namespace wf::context
