// Pacer: when the rounds of a recording are due. Absolute deadlines, so that lateness does not add up; holds no clock.
//
//   Pacer pacer(MonotonicNs(), 100);
//   for (;;) { SleepUntil(pacer.deadline_ns()); Look(); missed += pacer.Next(MonotonicNs()); }
#ifndef WF_SAMPLER_PACER_H_
#define WF_SAMPLER_PACER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace wf::sampler {

class Pacer {
 public:
  // REQUIRES: rate_hz > 0. The first round is due at `start_ns`.
  Pacer(int64_t start_ns, double rate_hz) : start_ns_(start_ns), period_ns_(1e9 / rate_hz) {}

  int64_t deadline_ns() const { return start_ns_ + std::llround(static_cast<double>(round_) * period_ns_); }

  // The round was made and it is `now_ns`. The next one is that whose period has not passed by yet, late or not;
  // returns how many before it came too late to be made.
  uint64_t Next(int64_t now_ns) {
    const int64_t next = round_ + 1;
    const auto now = static_cast<int64_t>(static_cast<double>(now_ns - start_ns_) / period_ns_);
    round_ = std::max(next, now);
    return static_cast<uint64_t>(round_ - next);
  }

 private:
  const int64_t start_ns_;
  const double period_ns_;
  int64_t round_ = 0;
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_PACER_H_
