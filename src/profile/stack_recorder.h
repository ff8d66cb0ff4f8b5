// StackRecorder: what a sampler writes to. Turns readings into samples whose weights add up exactly, joins equal ones,
// and hands them on in pieces.
//
//   StackRecorder recorder(meta);                       // mode, rate, start, command
//   uint32_t thread = recorder.AddThread(process_id, tid, "MainThread", now_ns);
//   StackTable& table = recorder.table();
//   uint32_t stack = table.Push(kEmptyStack, table.AddFrame({...}));   // outermost frame first
//   recorder.Record(thread, {.time_ns = now_ns, .clock_ns = now_ns, .stack = stack, .state = kOnCpu});
//   ...
//   writer.PutStacks(recorder.Take(now_ns));            // about twice a second
//   recorder.EndThread(thread, when_it_was_gone_ns);
//   recorder.Finish(end_ns);
//   writer.PutStacks(recorder.Take(end_ns));
//
// A reading holds until the next one of its thread, or until the thread ends: a round that was missed or a reading that
// was rejected makes the one before last longer, so that no time is lost and none is counted twice.
//
// Threading: one thread at a time.
#ifndef WF_PROFILE_STACK_RECORDER_H_
#define WF_PROFILE_STACK_RECORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/stacks.h"

namespace wf::profile {

// What one look at one thread found.
struct StackReading {
  int64_t time_ns = 0;
  // The clock whose advance is the weight: in wall and GIL mode time_ns again (a reading without the GIL weighs nothing
  // in GIL mode), in CPU mode the thread's CPU time.
  int64_t clock_ns = 0;
  uint32_t stack = kEmptyStack;
  uint8_t state = 0;
  uint64_t attempt = 0;
  bool weighs = true;  // false: the thread was not looked at; the time until the next reading counts for nothing
};

// What is new since the Take before: numbers go on where that ended, in strings, frames and nodes.
struct StackDelta {
  struct Thread {
    uint32_t index = 0;
    StackThread thread;
  };
  std::vector<std::string> strings;
  std::vector<Frame> frames;
  std::vector<StackNode> nodes;
  std::vector<Thread> threads;  // new or changed, whole
  std::vector<StackSample> samples;
  StackMeta meta;  // as of now

  size_t bytes() const;  // of memory, about
  void Append(StackDelta&& later);
};

class StackRecorder {
 public:
  explicit StackRecorder(StackMeta meta) : meta_(std::move(meta)) {}

  StackTable& table() { return table_; }

  // A new thread, also when a tid is used again. `process` is Process::id.
  uint32_t AddThread(uint32_t process, int32_t tid, std::string_view name, int64_t time_ns);
  void RenameThread(uint32_t thread, std::string_view name);
  // REQUIRES: time of a thread never goes back (such a reading is ignored); the thread has not ended.
  void Record(uint32_t thread, const StackReading& reading);
  // The thread is gone since `time_ns`, as far as is known; `clock_ns` as in a reading.
  void EndThread(uint32_t thread, int64_t time_ns, int64_t clock_ns);
  void EndThread(uint32_t thread, int64_t time_ns) { EndThread(thread, time_ns, time_ns); }

  void CountRound() { ++rounds_; }
  void CountMissed(uint64_t rounds) { meta_.missed += rounds; }
  void CountRejected(std::string_view reason) { ++meta_.rejected[std::string(reason)]; }

  // All that is new up to `time_ns`. Open samples are cut there, except in CPU mode, whose clock is known only at
  // readings: those are cut at their last reading.
  StackDelta Take(int64_t time_ns);
  // Ends all threads. In CPU mode the time after the last reading weighs nothing.
  void Finish(int64_t time_ns);

  const StackMeta& meta() const { return meta_; }

 private:
  struct Live {
    StackThread thread;
    bool is_changed = true;  // to be handed on
    bool has_reading = false;
    bool is_counted = false;  // the last reading is in the count of a sample
    bool is_open = false;
    StackSample open;   // up to the last reading; not handed on
    StackReading last;  // holds from here on
  };
  // Gives the time from the last reading to `time_ns` to its stack.
  void Charge(uint32_t thread, Live& live, int64_t time_ns, int64_t clock_ns);
  void End(uint32_t thread, Live& live);
  void HandOn(Live& live);
  void ChargeAllUpTo(int64_t time_ns);

  StackMeta meta_;
  StackTable table_;
  uint32_t threads_ = 0;                   // so far
  std::map<uint32_t, Live> live_;          // those that have not ended
  std::vector<StackDelta::Thread> ended_;  // to be handed on
  std::vector<StackSample> done_;
  size_t strings_taken_ = 0, frames_taken_ = 0, nodes_taken_ = 0;
  uint64_t rounds_ = 0;
};

// Puts pieces together to a profile in memory. Pieces may come from a file: numbers that point nowhere are refused as
// kDataLoss, and nothing of that piece's samples is kept.
class StackAssembler {
 public:
  Status Add(const StackDelta& delta);
  // All of it, equal samples joined. Processes are the caller's to add.
  StackProfile Finish();

 private:
  Status AddTables(const StackDelta& delta);

  StackProfile profile_;
  std::vector<uint32_t> strings_, frames_, nodes_;  // number in the pieces -> number in the profile
};

}  // namespace wf::profile

#endif  // WF_PROFILE_STACK_RECORDER_H_
