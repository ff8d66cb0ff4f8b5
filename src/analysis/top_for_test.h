// A recorder and the model beside it, as a sampler has them; times are milliseconds.
#ifndef WF_ANALYSIS_TOP_FOR_TEST_H_
#define WF_ANALYSIS_TOP_FOR_TEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/top_model.h"
#include "profile/stacks_for_test.h"

namespace wf::analysis {

class TopForTest {
 public:
  static constexpr int64_t kMs = 1'000'000;

  explicit TopForTest(const TopOptions& options = {}) : model_(options), recorder_(Meta()) {
    model_.Begin(recorder_.meta());
    profile::Process process;
    process.id = 1;
    process.pid = 4711;
    model_.PutProcess(process);
  }

  uint32_t Thread(const std::string& name, int64_t ms = 0) { return recorder_.AddThread(1, 4711, name, At(ms)); }
  void Read(uint32_t thread, int64_t ms, const std::vector<std::string>& stack, uint8_t state = profile::kOnCpu) {
    Read(thread, ms, StackOf(recorder_.table(), stack), state);
  }
  void Read(uint32_t thread, int64_t ms, uint32_t stack, uint8_t state = profile::kOnCpu) {
    recorder_.CountRound();
    recorder_.Record(thread, {.time_ns = At(ms), .clock_ns = At(ms), .stack = stack, .state = state});
  }
  void EndWindow(int64_t ms) { model_.Put(recorder_.Take(At(ms))); }
  static int64_t At(int64_t ms) { return (ms + 1) * kMs; }

  TopModel& model() { return model_; }
  const TopModel& model() const { return model_; }
  profile::StackRecorder& recorder() { return recorder_; }

 protected:
  static profile::StackMeta Meta() {
    profile::StackMeta meta;
    meta.rate_hz = 100;
    meta.start_ns = kMs;
    return meta;
  }

  TopModel model_;
  profile::StackRecorder recorder_;
};

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_TOP_FOR_TEST_H_
