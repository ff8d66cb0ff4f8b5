#include "app/record_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "app/process_row.h"
#include "base/clock.h"
#include "sampler/pacer.h"
#include "sampler/proc_files.h"

namespace wf::app {
namespace {

using sampler::ProcessWatch;

constexpr int64_t kMs = 1'000'000;
// Between two looks for new processes, and while there is no Python yet: that may be one of them.
constexpr int64_t kSearchNs = 100 * kMs;
constexpr int64_t kFirstSearchNs = 25 * kMs;
// A longer sleep is cut into slices, in which a signal and the end of the process are noticed.
constexpr int64_t kSliceNs = 100 * kMs;

}  // namespace

RecordSession::RecordSession(int32_t pid, const RecordOptions& options, std::function<bool()> stopped, RecordSink* sink)
    : root_(pid), options_(options), stopped_(std::move(stopped)), sink_(sink), samples_(options.needs) {
  if (options.attempts) book_.emplace(*options.attempts);
  Follow(pid);
}

void RecordSession::Follow(int32_t pid) {
  if (watched_.contains(pid)) return;
  WatchOptions watch;
  watch.target.cpu_time = options_.mode == profile::SampleMode::kCpu;
  watch.target.blocking = options_.blocking;
  watch.native = options_.native;
  watch.positions = book_.has_value();
  watched_.try_emplace(pid, pid, watch);
}

Status RecordSession::Attach() {
  Status status = watched_.at(root_).Attach();
  if (status.ok() || !options_.subprocesses) return status;
  for (const int32_t pid : sampler::Descendants(root_)) {
    Follow(pid);
    if (watched_.at(pid).Attach().ok()) return {};
  }
  return status;
}

void RecordSession::Run(const std::function<void()>& each_round) {
  if (!WaitForPython()) return;
  const int64_t start_ns = recorder_->meta().start_ns;
  sampler::Pacer pacer(start_ns, options_.rate_hz);
  pacer.Next(start_ns);  // the first round is made
  while (!watched_.empty() && !stopped_()) {
    const bool last = options_.duration_ns && pacer.deadline_ns() - start_ns >= *options_.duration_ns;
    if (!SleepUntil(last ? start_ns + *options_.duration_ns : pacer.deadline_ns()) || last) return;
    Round();
    if (each_round) each_round();
    recorder_->CountMissed(pacer.Next(base::MonotonicNs()));
  }
}

// The time until there is an interpreter is not part of the recording.
bool RecordSession::WaitForPython() {
  int64_t pause_ns = kMs;
  while (!stopped_()) {
    Round();
    if (recorder_) return true;
    if (watched_.empty() || !SleepUntil(base::MonotonicNs() + pause_ns)) return false;
    pause_ns = std::min(pause_ns + pause_ns / 8, kSliceNs / 2);
  }
  return false;
}

void RecordSession::Round() {
  FindProcesses();
  for (auto at = watched_.begin(); at != watched_.end();) {
    at = IsFollowed(at->first) && Look(at->second) ? std::next(at) : watched_.erase(at);
  }
  if (recorder_) {
    recorder_->CountRound();
    TakePiece(base::MonotonicNs());
  }
}

std::string RecordSession::NativeNote() const {
  const std::string& why = why_no_native_.message();
  if (stops_.stops == 0) return why.empty() ? "" : "no native frames: " + why;
  const double total_ms = static_cast<double>(stops_.total_ns) / 1e6;
  return fmt::format("for native frames, threads were stopped {} times, for {:.2f} ms each on average", stops_.stops,
                     total_ms / static_cast<double>(stops_.stops));
}

// Without subprocesses, only the first Python is.
bool RecordSession::IsFollowed(int32_t pid) const {
  return options_.subprocesses || !recorder_ || processes_.front().pid == pid;
}

// False when the process ended.
bool RecordSession::Look(WatchedProcess& watched) {
  const int64_t now_ns = base::MonotonicNs();
  const ProcessWatch& watch = watched.watch();
  const sampler::StopCount before = watch.stopped();
  watched.ReadPositions(now_ns);
  const ProcessWatch::Look found = watched.ReadStacks(now_ns);
  stops_.stops += watch.stopped().stops - before.stops;
  stops_.total_ns += watch.stopped().total_ns - before.total_ns;
  why_no_native_ = watch.why_no_native();
  if (found != ProcessWatch::Look::kSeen) return found != ProcessWatch::Look::kEnded;
  if (!recorder_) Begin(watch.pid(), now_ns);
  if (!watched.is_recorded()) watched.RecordTo(*recorder_, AddProcess(watch.pid()));
  if (options_.blocking && not_paused_.empty()) not_paused_ = watched.snapshot().not_paused;
  if (book_) Place(watched, now_ns);
  watched.Record(now_ns);
  return true;
}

void RecordSession::Place(WatchedProcess& watched, int64_t time_ns) {
  if (!watched.why_no_positions().ok()) why_no_attempts_ = watched.why_no_positions();
  watched.Place([&](const context::ThreadEntry* entry, sampler::ThreadSample& thread) {
    thread.attempt = entry == nullptr ? 0 : NumberOf(*entry, watched, thread.tid, time_ns);
  });
}

uint64_t RecordSession::NumberOf(const context::ThreadEntry& entry, WatchedProcess& watched, int32_t tid,
                                 int64_t time_ns) {
  const std::string& task = watched.NameOf(entry);
  const AttemptBook::Found found = book_->NumberOf(entry, task);
  if (!found.is_new) return found.number;
  met_attempts_ = true;
  profile::StackAttempt row = book_->Row(found.number, entry, task);
  row.process = watched.process();
  row.tid = tid;
  row.time_ns = time_ns;
  if (sink_ != nullptr) {
    sink_->PutAttempt(row);
  } else {
    attempts_.push_back(std::move(row));
  }
  return found.number;
}

void RecordSession::Begin(int32_t pid, int64_t time_ns) {
  profile::StackMeta meta;
  meta.mode = options_.mode;
  meta.rate_hz = options_.rate_hz;
  meta.idle_included = options_.idle;
  meta.start_wall_ns = base::WallNs();
  meta.start_ns = time_ns;
  meta.command = sampler::CommandLine(pid);
  if (sink_ != nullptr) sink_->Begin(meta);
  recorder_.emplace(std::move(meta));
  next_piece_ns_ = time_ns + options_.piece_ns;
}

uint32_t RecordSession::AddProcess(int32_t pid) {
  const uint32_t id = static_cast<uint32_t>(processes_.size()) + (sink_ == nullptr ? 1 : sink_->first_process());
  profile::Process process = ProcessRow(id, pid, sampler::CommandLine(pid));
  if (sink_ != nullptr) sink_->PutProcess(process);
  processes_.push_back(std::move(process));
  return processes_.back().id;
}

void RecordSession::FindProcesses() {
  const bool looks_below = options_.below && !recorder_;
  const int64_t now_ns = base::MonotonicNs();
  if ((!options_.subprocesses && !looks_below) || now_ns < next_search_ns_) return;
  next_search_ns_ = now_ns + (recorder_ ? kSearchNs : kFirstSearchNs);
  for (const int32_t pid : sampler::Descendants(root_)) Follow(pid);
}

// False when there is nothing more to wait for.
bool RecordSession::SleepUntil(int64_t time_ns) {
  for (int64_t now_ns = base::MonotonicNs(); now_ns < time_ns; now_ns = base::MonotonicNs()) {
    const int64_t until_ns = std::min(time_ns, now_ns + kSliceNs);
    const timespec until = {until_ns / 1'000'000'000, until_ns % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    if (stopped_()) return false;
    const bool is_last_slice = until_ns == time_ns;
    if (!is_last_slice && std::all_of(watched_.begin(), watched_.end(),
                                      [](const auto& each) { return each.second.watch().HasEnded(); })) {
      return false;
    }
  }
  return true;
}

bool RecordSession::IsKept(const profile::StackSample& sample) const {
  if (options_.mode == profile::SampleMode::kGil) return (sample.state & profile::kHoldsGil) != 0;
  if (options_.mode == profile::SampleMode::kCpu) return sample.weight_ns > 0;
  return options_.idle || (sample.state & profile::kIdle) == 0;
}

void RecordSession::TakePiece(int64_t time_ns) {
  if (time_ns < next_piece_ns_) return;
  next_piece_ns_ = time_ns + options_.piece_ns;
  profile::StackDelta piece = recorder_->Take(time_ns);
  std::erase_if(piece.samples, [&](const profile::StackSample& sample) { return !IsKept(sample); });
  for (const profile::StackSample& sample : piece.samples) kept_ += sample.count;
  piece.meta.samples = kept_;
  if (sink_ != nullptr) {
    sink_->PutStacks(std::move(piece));
    return;
  }
  samples_.Add(piece);
}

profile::StackProfile RecordSession::Profile(profile::StackTable table) const {
  profile::StackProfile profile = samples_.Profile(std::move(table));
  profile.processes = processes_;
  profile.attempts = attempts_;
  profile.meta = recorder_->meta();
  profile.meta.samples = kept_;
  return profile;
}

profile::StackProfile RecordSession::SoFar() {
  next_piece_ns_ = 0;
  TakePiece(base::MonotonicNs());
  return Profile(recorder_->table());
}

profile::StackProfile RecordSession::Finish() {
  const int64_t now_ns = base::MonotonicNs();
  recorder_->Finish(now_ns);
  next_piece_ns_ = 0;
  TakePiece(now_ns);
  return Profile(std::move(recorder_->table()));
}

}  // namespace wf::app
