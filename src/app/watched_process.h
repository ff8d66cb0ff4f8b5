// WatchedProcess: a process whose stacks are recorded, each look with what its threads work for in a run of Workflow.
//
//   WatchedProcess process(pid, {});
//   process.ReadPositions(now_ns);                                   // where its threads are in a run, if in any,
//   if (process.ReadStacks(now_ns) == sampler::ProcessWatch::Look::kSeen) {
//     if (!process.is_recorded()) process.RecordTo(recorder, id);    // what they do meanwhile,
//     process.Place([](const context::ThreadEntry* entry, sampler::ThreadSample& thread) { … });
//     process.Record(now_ns);                                        // and both together
//   }
//
// A program that does not run Workflow needs nothing in it, and costs nothing more: context/position_reader.h.
//
// Threading: one thread at a time.
#ifndef WF_APP_WATCHED_PROCESS_H_
#define WF_APP_WATCHED_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "context/position_reader.h"
#include "profile/stack_recorder.h"
#include "sampler/process_watch.h"
#include "sampler/snapshot_recorder.h"

namespace wf::app {

struct WatchOptions {
  sampler::TargetOptions target = {};
  bool native = false;     // sampler::ProcessWatch
  bool positions = false;  // else nobody asks for them
};

// Among those that were read around the reading of the thread.
const context::ThreadEntry* PositionOf(const context::PositionReader& positions, const sampler::ThreadSample& thread);

class WatchedProcess {
 public:
  WatchedProcess(int32_t pid, const WatchOptions& options);

  // Whether its stacks can be read now.
  Status Attach() { return watch_.Attach(); }

  // First in each look. REQUIRES: the time does not go back.
  void ReadPositions(int64_t now_ns);
  // Whether any thread works for an attempt that the costly probes look at, as of ReadPositions.
  bool AnySampled() const { return positions_ && positions_->AnySampled(); }
  // When there is nothing to see, its threads end in the record.
  sampler::ProcessWatch::Look ReadStacks(int64_t now_ns);

  // Calls `place(entry, thread)` for each thread of the last look. `entry`: what it worked for all the while, nullptr
  // when that was no attempt, or is not certain; the thread's attempt and whether it is wanted are for `place` to set.
  template <typename PlaceThread>
  void Place(const PlaceThread& place) {
    for (sampler::ThreadSample& thread : snapshot_.threads) {
      place(positions_ ? PositionOf(*positions_, thread) : nullptr, thread);
    }
  }
  // The name of its task; PositionReader::NameOf.
  const std::string& NameOf(const context::ThreadEntry& entry) { return positions_->NameOf(entry); }

  // PositionReader::why_not.
  Status why_no_positions() const { return positions_ ? positions_->why_not() : Status(); }

  bool is_recorded() const { return recorder_.has_value(); }
  // From the first look on in which it was seen. `recorder` must outlive it. `process`: profile::Process::id.
  void RecordTo(profile::StackRecorder& recorder, uint32_t process) { recorder_.emplace(recorder, process_ = process); }
  uint32_t process() const { return process_; }  // as given there
  // What was seen in this look. REQUIRES: is_recorded(), here and below.
  void Record(int64_t now_ns) { recorder_->Record(snapshot_, now_ns); }
  // Nobody looked; the time counts for nothing.
  void Pause(int64_t now_ns) { recorder_->Pause(now_ns); }

  const sampler::ProcessWatch& watch() const { return watch_; }
  const sampler::Snapshot& snapshot() const { return snapshot_; }

 private:
  sampler::ProcessWatch watch_;
  sampler::Snapshot snapshot_;                         // only what is new in it is written at each look
  std::optional<context::PositionReader> positions_;   // nullopt: nobody asks
  std::optional<sampler::SnapshotRecorder> recorder_;  // from its first snapshot on
  uint32_t process_ = 0;
  bool was_seen_ = false;
};

}  // namespace wf::app

#endif  // WF_APP_WATCHED_PROCESS_H_
