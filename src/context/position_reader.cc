#include "context/position_reader.h"

#include <algorithm>

#include "base/clock.h"
#include "context/layout.h"

namespace wf::context {
namespace {

// To look for the page means to read all of /proc/<pid>/maps, which takes milliseconds with thousands of mappings. So
// it is done when the process has more or less memory than the last time, at most a thousandth of the time.
constexpr int64_t kPauseNs = 10'000'000;
constexpr int64_t kPausePerCost = 1'000;
constexpr int64_t kLongestPauseNs = 10'000'000'000;  // though nothing changed, or however long a look took

}  // namespace

bool PositionReader::FindPage(int64_t time_ns) {
  if (page_) return true;
  if (time_ns < next_look_ns_) return false;
  next_look_ns_ = time_ns + kPauseNs;
  const uint64_t pages = MappedPages(pid_, &memory_);
  if (pages != 0 && pages == looked_at_pages_ && time_ns < due_ns_) return false;
  const int64_t start_ns = base::ThreadCpuNs();
  const Result<PageAddress> found = FindPageOf(pid_);
  const int64_t cost_ns = base::ThreadCpuNs() - start_ns;
  looked_at_pages_ = pages;
  due_ns_ = time_ns + kLongestPauseNs;
  next_look_ns_ = std::min(due_ns_, time_ns + std::max(kPauseNs, cost_ns * kPausePerCost));
  if (!found.ok()) return false;
  page_ = *found;
  names_.clear();
  return true;
}

void PositionReader::LookSoon() {
  page_.reset();
  next_look_ns_ = due_ns_ = 0;
}

void PositionReader::Before(int64_t time_ns) {
  before_.clear();
  sure_.clear();
  any_sampled_ = false;
  if (!FindPage(time_ns)) return;
  const Result<Snapshot> page = ReadPage(pid_, *page_, &scratch_);
  if (!page.ok()) {
    // It ended, or executes another program; or the page is of another version, or not for us, which it remains.
    const bool is_hopeless = page.status().code() == Code::kDataLoss || page.status().code() == Code::kPermissionDenied;
    page_.reset();
    if (is_hopeless) why_not_ = page.status();
    if (!is_hopeless) LookSoon();
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

const std::string& PositionReader::NameOf(const ThreadEntry& entry) {
  static const std::string kUnknown;
  if (!page_ || entry.name == 0 || entry.name > kNameCount) return kUnknown;
  const auto [at, is_new] = names_.try_emplace(entry.name);
  if (!is_new) return at->second;
  Result<std::string> name = ReadName(pid_, *page_, entry.name);
  if (name.ok()) at->second = *std::move(name);
  return at->second;
}

const ThreadEntry* PositionReader::Find(int32_t tid) const {
  const auto found = sure_.find(tid);
  return found == sure_.end() ? nullptr : &found->second;
}

}  // namespace wf::context
