#include "sampler/process_watch.h"

#include <algorithm>
#include <utility>

#include "base/process_id.h"

namespace wf::sampler {
namespace {

constexpr int64_t kFirstPauseNs = 2'000'000;
constexpr int64_t kLongestPauseNs = 100'000'000;

}  // namespace

ProcessWatch::ProcessWatch(int32_t pid, const TargetOptions& options, bool native)
    : pid_(pid), options_(options), start_ticks_(base::StartTicksOf(pid)), wants_native_(native) {
  options_.only_activity = true;
  // NativeTarget stops the process itself, and asks for all of its threads before.
  if (native) options_.states = options_.cpu_time = options_.blocking = false;
}

bool ProcessWatch::HasEnded() const {
  const std::optional<int64_t> now = base::StartTicksOf(pid_);
  return !now || now != start_ticks_;
}

Status ProcessWatch::Attach() {
  auto target = Target::Attach(pid_, options_);
  why_not_ = target.status();
  native_ = nullptr;
  if (target.ok()) target_ = std::move(*target);
  if (target.ok() && wants_native_) native_ = std::make_unique<NativeTarget>(*target_, NativeOptions{});
  return why_not_;
}

ProcessWatch::Look ProcessWatch::Read(int64_t time_ns, Snapshot* snapshot) {
  if (target_ == nullptr) {
    if (time_ns < next_try_ns_) return Look::kNoPython;
    if (HasEnded()) return Look::kEnded;
    if (!Attach().ok()) {
      pause_ns_ = std::clamp(pause_ns_ + pause_ns_ / 4, kFirstPauseNs, kLongestPauseNs);
      next_try_ns_ = time_ns + pause_ns_;
      return Look::kNoPython;
    }
  }
  why_not_ = native_ != nullptr ? native_->Read(snapshot, &stopped_) : target_->Read(snapshot);
  if (why_not_.ok()) {
    pause_ns_ = 0;
    return Look::kSeen;
  }
  native_ = nullptr;
  target_ = nullptr;
  return HasEnded() ? Look::kEnded : Look::kNoPython;
}

}  // namespace wf::sampler
