// Stacks: what a sampler recorded, as every sampler, importer, store and exporter shares it.
//
//   StackProfile = processes + threads + StackTable (strings, frames, a tree of stacks) + samples + StackMeta
//
// A stack is a node of the tree: its innermost frame, and the node of its caller; node 0 is the empty stack. A sample
// says that a thread had one stack from `time_ns` for `span_ns`; equal stacks that follow each other are one sample
// with a `count`. In wall mode weight and span are the same, and the samples of a thread lie end to end from its first
// to its last reading: all weights together are exactly the time that all threads lived while they were watched.
//
// Memory is bounded: the tables stop at a fixed size (what comes then is counted and stands under a marker), texts at
// kMaxTextBytes. Samples are 48 bytes each; a recorder hands them on twice a second (stack_recorder.h), so that only
// what reads a whole recording holds them all. Ten minutes at 1 kHz with 64 threads that never hold still are
// 38 million samples; parked threads, which most are, take one sample however long they wait.
//
// Plain values; one thread at a time. Texts are always valid UTF-8 but may hold anything else: control characters,
// newlines, semicolons. Each format escapes them itself.
#ifndef WF_PROFILE_STACKS_H_
#define WF_PROFILE_STACKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/run_id.h"
#include "profile/model.h"
#include "profile/stack_table.h"
#include "wf/status.h"

namespace wf::profile {

// Bits of StackSample::state.
enum StackState : uint8_t {
  kOnCpu = 1,     // running on a CPU, or ready to
  kIdle = 2,      // waiting: asleep, for I/O, for a lock
  kHoldsGil = 4,  // holds the interpreter's lock
};

struct StackSample {
  int64_t time_ns = 0;    // CLOCK_MONOTONIC
  int64_t span_ns = 0;    // how long the stack was seen
  int64_t weight_ns = 0;  // wall, CPU or GIL time of it, by StackMeta::mode; never more than the clock gives
  uint64_t attempt = 0;   // 0: outside every attempt, or unknown
  uint32_t thread = 0;    // index in StackProfile::threads
  uint32_t stack = 0;     // node of the table; 0: empty
  uint32_t count = 1;     // readings that found it
  uint8_t state = 0;      // StackState

  bool operator==(const StackSample&) const = default;
};

struct StackThread {
  uint32_t process = 0;  // Process::id
  int32_t tid = 0;       // as the host numbers it; used again by the system, so it is no key
  std::string name;
  int64_t first_ns = 0;
  int64_t last_ns = 0;  // no sample reaches beyond it

  bool operator==(const StackThread&) const = default;
};

// Recordings: an attempt of another program's run, as far as it was met. A thread may work for one of several runs.
struct StackAttempt {
  uint64_t id = 0;       // StackSample::attempt
  base::RunId run;       // nil: not told apart, all attempts of the task are this one; then so are the next two
  uint64_t attempt = 0;  // as that run numbers it, and its node
  uint64_t node = 0;
  std::string task;  // its name
  // Where it was met first.
  uint32_t process = 0;
  int32_t tid = 0;
  int64_t time_ns = 0;

  bool operator==(const StackAttempt&) const = default;
};

enum class SampleMode : uint8_t { kWall = 0, kCpu = 1, kGil = 2 };
std::string_view Name(SampleMode mode);  // "wall", "cpu", "gil"

// How the samples came to be; every output states it.
struct StackMeta {
  SampleMode mode = SampleMode::kWall;
  double rate_hz = 0;                             // asked for
  double achieved_rate_hz = 0;                    // rounds of readings per second
  uint64_t samples = 0;                           // readings that were kept
  uint64_t missed = 0;                            // rounds that came too late to be made
  std::map<std::string, uint64_t> rejected = {};  // reason -> readings that could not be trusted
  uint64_t not_kept = 0;                          // times that a table was full: StackTable::not_kept()
  bool idle_included = true;                      // whether waiting threads are in
  int64_t start_wall_ns = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t cost_cpu_ns = 0;   // CPU time of the sampler itself; 0: not known
  std::string command = {};  // of the program that was watched

  uint64_t rejected_total() const;
  bool operator==(const StackMeta&) const = default;
};

struct StackProfile {
  StackTable table;
  std::vector<Process> processes;
  std::vector<StackThread> threads;
  std::vector<StackSample> samples;    // of one thread by time; threads in any order
  std::vector<StackAttempt> attempts;  // recordings: those that were met, by id from 1
  StackMeta meta;

  int64_t total_weight_ns() const;
};

// Adds all of `other`: its processes and attempts get new ids, its times are moved by the difference of the two wall
// clocks when the recordings come from different boots. kInvalidArgument when the modes differ: their weights cannot be
// added.
Status Merge(StackProfile& into, const StackProfile& other);

// Joins samples of one thread that follow each other without a gap and are the same. Keeps the order by thread.
void JoinEqualSamples(std::vector<StackSample>& samples);

// Whether `next` goes on where `sample` ends, with the same stack, state and attempt.
bool Continues(const StackSample& sample, const StackSample& next);
// REQUIRES: Continues(sample, next).
void Extend(StackSample& sample, const StackSample& next);

}  // namespace wf::profile

#endif  // WF_PROFILE_STACKS_H_
