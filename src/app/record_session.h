// RecordSession: the loop of `wf record`: looks at the processes in time with a clock and gathers what it sees.
//
//   RecordSession session(pid, options, stopped);
//   WF_RETURN_IF_ERROR(session.Attach());   // unless the program was just started
//   session.Run();                          // until the end of the process, of the duration, or `stopped`
//   session.Finish()                        // the profile
//
// Of a process that runs Workflow each sample can carry the attempt that its thread worked for.
//
// Without subprocesses one process is followed: the one given, or, while that is no Python (a shell, a launcher), the
// first Python below it.
//
// Threading: one thread.
#ifndef WF_APP_RECORD_SESSION_H_
#define WF_APP_RECORD_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "app/attempt_book.h"
#include "app/watched_process.h"
#include "profile/recorded_samples.h"
#include "profile/stack_recorder.h"
#include "wf/status.h"

namespace wf::app {

struct RecordOptions {
  double rate_hz = 100;
  int64_t piece_ns = 500'000'000;      // how often a sink is given what is new, at most
  std::optional<int64_t> duration_ns;  // from the first round on
  bool subprocesses = false;
  bool below = false;  // while the process is no Python, one below it will do
  bool idle = false;   // keep readings of waiting threads; in kWall only
  profile::SampleMode mode = profile::SampleMode::kWall;
  bool blocking = false;  // the process is paused while it is read
  // What samples carry of the attempts of Workflow that are met; nullopt: nothing, nobody asks.
  std::optional<AttemptBook::Detail> attempts;
  bool native = false;         // native frames too, for which each round stops the processes for a moment
  profile::SampleNeeds needs;  // of what the samples are kept for, where they are not handed on
};

// Where pieces go while a recording is made. Without one they are kept, for Finish.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // What the first process is called; the others follow.
  virtual uint32_t first_process() const { return 1; }
  // First of all, when the first Python is seen.
  virtual void Begin(const profile::StackMeta& meta) = 0;
  virtual void PutProcess(const profile::Process& process) = 0;
  // Before the first samples that carry its number.
  virtual void PutAttempt(const profile::StackAttempt& /*attempt*/) {}
  virtual void PutStacks(profile::StackDelta stacks) = 0;
};

class RecordSession {
 public:
  // `sink`, which may be null, must outlive it.
  RecordSession(int32_t pid, const RecordOptions& options, std::function<bool()> stopped, RecordSink* sink = nullptr);

  // Whether there is anything to read now; else why not.
  Status Attach();
  // `each_round`, which may be empty, is called after each.
  void Run(const std::function<void()>& each_round = {});
  // Why a process that was to be paused was read without it; empty: none was.
  const std::string& not_paused() const { return not_paused_; }
  // False when no Python was seen.
  bool saw_python() const { return recorder_.has_value(); }
  // A sentence on how long threads were stopped for native frames, or why there are none; empty: none were wanted.
  std::string NativeNote() const;
  // Whether any thread worked for an attempt of Workflow; and why one process could not be asked.
  bool met_attempts() const { return met_attempts_; }
  const Status& why_no_attempts() const { return why_no_attempts_; }
  // What was recorded until now; with a sink only the meta is filled. REQUIRES: saw_python().
  profile::StackProfile SoFar();
  // The same, once, last.
  profile::StackProfile Finish();

 private:
  bool WaitForPython();
  void Round();
  bool IsFollowed(int32_t pid) const;
  bool Look(WatchedProcess& watched);
  void Place(WatchedProcess& watched, int64_t time_ns);
  uint64_t NumberOf(const context::ThreadEntry& entry, WatchedProcess& watched, int32_t tid, int64_t time_ns);
  void Begin(int32_t pid, int64_t time_ns);
  void Follow(int32_t pid);
  void FindProcesses();
  bool SleepUntil(int64_t time_ns);
  void TakePiece(int64_t time_ns);
  profile::StackProfile Profile(profile::StackTable table) const;
  uint32_t AddProcess(int32_t pid);
  bool IsKept(const profile::StackSample& sample) const;

  const int32_t root_;
  const RecordOptions options_;
  const std::function<bool()> stopped_;
  RecordSink* const sink_;
  std::map<int32_t, WatchedProcess> watched_;
  std::optional<profile::StackRecorder> recorder_;  // from the first snapshot on
  profile::RecordedSamples samples_;
  std::vector<profile::Process> processes_;
  std::optional<AttemptBook> book_;
  std::vector<profile::StackAttempt> attempts_;  // without a sink
  std::string not_paused_;
  uint64_t kept_ = 0;
  sampler::StopCount stops_;
  Status why_no_native_;
  bool met_attempts_ = false;
  Status why_no_attempts_;
  int64_t next_search_ns_ = 0;
  int64_t next_piece_ns_ = 0;
};

}  // namespace wf::app

#endif  // WF_APP_RECORD_SESSION_H_
