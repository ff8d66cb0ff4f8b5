#include "profile/recorded_samples.h"

#include <algorithm>
#include <utility>

#include "profile/index_table.h"

namespace wf::profile {

size_t RecordedSamples::HashOfKey::operator()(const Key& key) const {
  const uint64_t place = MixBits(uint64_t{key.thread} << 32 | key.stack);
  return MixBits(place ^ (key.attempt << 3 | key.state));
}

void RecordedSamples::Add(const StackDelta& piece) {
  for (const StackDelta::Thread& thread : piece.threads) AddThread(thread);
  for (StackSample sample : piece.samples) {
    sample.thread = own_[sample.thread];
    StackThread& thread = threads_[sample.thread];
    thread.last_ns = std::max(thread.last_ns, sample.time_ns + sample.span_ns);
    if (needs_.by_time) {
      AddInTime(sample);
    } else {
      AddToSum(sample);
    }
  }
}

uint32_t RecordedSamples::ThreadOf(const StackDelta::Thread& thread) {
  if (thread.index >= own_.size()) own_.resize(thread.index + 1, kNone);
  if (own_[thread.index] != kNone) return own_[thread.index];
  auto next = static_cast<uint32_t>(threads_.size());
  if (!needs_.by_thread && !needs_.by_time) {
    next = of_process_.try_emplace(thread.thread.process, next).first->second;
  }
  if (next == threads_.size()) threads_.push_back(thread.thread);
  return own_[thread.index] = next;
}

void RecordedSamples::AddThread(const StackDelta::Thread& thread) {
  StackThread& own = threads_[ThreadOf(thread)];
  const StackThread before = std::exchange(own, thread.thread);
  own.first_ns = std::min(own.first_ns, before.first_ns);
  own.last_ns = std::max(own.last_ns, before.last_ns);
}

void RecordedSamples::AddInTime(const StackSample& sample) {
  if (sample.thread >= last_.size()) last_.resize(sample.thread + 1, kNone);
  uint32_t& last = last_[sample.thread];
  if (last != kNone && Continues(samples_[last], sample)) {
    Extend(samples_[last], sample);
    return;
  }
  last = static_cast<uint32_t>(samples_.size());
  samples_.push_back(sample);
}

void RecordedSamples::AddToSum(const StackSample& sample) {
  const Key key = {sample.attempt, sample.thread, sample.stack, sample.state};
  const auto next = static_cast<uint32_t>(samples_.size());
  const auto [at, is_new] = sums_.try_emplace(key, next);
  if (!is_new && uint64_t{samples_[at->second].count} + sample.count <= UINT32_MAX) {
    Extend(samples_[at->second], sample);
  } else {
    samples_.push_back(sample);
    at->second = next;
  }
}

StackProfile RecordedSamples::Profile(StackTable table) const {
  StackProfile profile;
  profile.table = std::move(table);
  profile.threads = threads_;
  profile.samples = samples_;
  JoinEqualSamples(profile.samples);
  return profile;
}

}  // namespace wf::profile
