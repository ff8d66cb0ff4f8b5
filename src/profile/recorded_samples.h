// RecordedSamples: the samples of a recording as it goes on, in as little memory as its readers need.
//
//   RecordedSamples samples({.by_time = format.by_time, .by_thread = options.threads});
//   samples.Add(recorder.Take(now_ns));                            // about twice a second
//   StackProfile profile = samples.Profile(recorder.table());      // of all so far, as often as wanted
//
// Most readers want sums: how long a stack was seen, not when. For them memory grows with the number of distinct
// stacks, which the table bounds, and not with time; threads that nobody tells apart are one per process, however many
// come and go.
//
// Threading: one thread at a time.
#ifndef WF_PROFILE_RECORDED_SAMPLES_H_
#define WF_PROFILE_RECORDED_SAMPLES_H_

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "profile/stack_recorder.h"

namespace wf::profile {

struct SampleNeeds {
  bool by_time = true;    // each sample where it lies in time; else sums, whose time_ns is that of their first sample
  bool by_thread = true;  // which thread it was
};

class RecordedSamples {
 public:
  explicit RecordedSamples(const SampleNeeds& needs) : needs_(needs) {}

  // The next piece of a recorder. Its numbers stay those of the recorder's table.
  void Add(const StackDelta& piece);
  // `table`: the recorder's. Processes and meta are the caller's to add.
  StackProfile Profile(StackTable table) const;

  size_t samples() const { return samples_.size(); }
  size_t threads() const { return threads_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Of a sum.
  struct Key {
    uint64_t attempt;
    uint32_t thread, stack;
    uint8_t state;
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    size_t operator()(const Key& key) const;
  };

  uint32_t ThreadOf(const StackDelta::Thread& thread);
  void AddThread(const StackDelta::Thread& thread);
  void AddInTime(const StackSample& sample);
  void AddToSum(const StackSample& sample);

  const SampleNeeds needs_;
  std::vector<StackThread> threads_;
  std::vector<uint32_t> own_;                // thread of the recorder -> index in threads_
  std::map<uint32_t, uint32_t> of_process_;  // not by_thread: process -> index in threads_
  std::vector<StackSample> samples_;
  std::vector<uint32_t> last_;  // by_time: thread -> its last sample
  std::unordered_map<Key, uint32_t, HashOfKey> sums_;
};

}  // namespace wf::profile

#endif  // WF_PROFILE_RECORDED_SAMPLES_H_
