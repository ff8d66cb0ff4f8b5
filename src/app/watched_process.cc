#include "app/watched_process.h"

namespace wf::app {

using sampler::ProcessWatch;

const context::ThreadEntry* PositionOf(const context::PositionReader& positions, const sampler::ThreadSample& thread) {
  // The page has numbers of the process's own PID namespace.
  const auto inner = static_cast<int32_t>(thread.stack.native_id);
  return positions.Find(inner != 0 ? inner : thread.tid);
}

WatchedProcess::WatchedProcess(int32_t pid, const WatchOptions& options) : watch_(pid, options.target, options.native) {
  if (options.positions) positions_.emplace(pid);
}

void WatchedProcess::ReadPositions(int64_t now_ns) {
  if (positions_) positions_->Before(now_ns);
}

ProcessWatch::Look WatchedProcess::ReadStacks(int64_t now_ns) {
  const ProcessWatch::Look found = watch_.Read(now_ns, &snapshot_);
  if (found != ProcessWatch::Look::kSeen) {
    // Another program may come in its place, with another page.
    if (was_seen_ && positions_) positions_->LookSoon();
    was_seen_ = false;
    if (recorder_) recorder_->End(now_ns);
    return found;
  }
  was_seen_ = true;
  if (positions_) positions_->After();
  return found;
}

}  // namespace wf::app
