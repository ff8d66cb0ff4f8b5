#include "profile/stacks.h"

#include <fmt/format.h>

#include <algorithm>

namespace wf::profile {
namespace {

constexpr std::string_view kModeNames[] = {"wall", "cpu", "gil"};

// Numbers of `from`'s nodes in `into`, which gets what it lacks.
std::vector<uint32_t> MergeTables(StackTable& into, const StackTable& from) {
  std::vector<uint32_t> strings, frames, nodes;
  for (uint32_t i = 0; i < from.string_count(); ++i) strings.push_back(into.Intern(from.text(i)));
  for (uint32_t i = 0; i < from.frame_count(); ++i) {
    Frame frame = from.frame(i);
    frame.name = strings[frame.name];
    frame.qualified_name = strings[frame.qualified_name];
    frame.file = strings[frame.file];
    frames.push_back(into.AddFrame(frame));
  }
  nodes.push_back(kEmptyStack);
  for (uint32_t i = 1; i < from.node_count(); ++i) {
    const StackNode& node = from.node(i);
    nodes.push_back(into.Push(nodes[node.parent], frames[node.frame]));
  }
  return nodes;
}

std::map<uint32_t, uint32_t> MergeProcesses(std::vector<Process>& into, const std::vector<Process>& from) {
  uint32_t last = 0;
  for (const Process& process : into) last = std::max(last, process.id);
  std::map<uint32_t, uint32_t> ids;
  for (const Process& process : from) {
    into.push_back(process);
    ids[process.id] = into.back().id = ++last;
  }
  return ids;
}

// What to add to their numbers. Those of a run's own stacks are its own, and stay.
uint64_t MergeAttempts(StackProfile& into, const StackProfile& other, const std::map<uint32_t, uint32_t>& processes,
                       int64_t shift_ns) {
  const uint64_t first = other.attempts.empty() ? 0 : into.attempts.size();
  for (StackAttempt attempt : other.attempts) {
    const auto process = processes.find(attempt.process);
    attempt.id += first;
    attempt.process = process == processes.end() ? 0 : process->second;
    attempt.time_ns += shift_ns;
    into.attempts.push_back(std::move(attempt));
  }
  return first;
}

// CLOCK_MONOTONIC starts at boot: one time line for all recordings of a boot, another one for each other.
bool OneBoot(const StackProfile& a, const StackProfile& b) {
  if (a.processes.empty() || b.processes.empty()) return true;
  return a.processes.front().boot_id == b.processes.front().boot_id;
}

void MergeMeta(StackMeta& into, const StackMeta& other, int64_t shift_ns) {
  const int64_t start_ns = std::min(into.start_ns, other.start_ns + shift_ns);
  const int64_t end_ns = std::max(into.start_ns + into.duration_ns, other.start_ns + shift_ns + other.duration_ns);
  into.start_wall_ns -= into.start_ns - start_ns;
  into.start_ns = start_ns;
  into.duration_ns = end_ns - start_ns;
  into.samples += other.samples;
  into.missed += other.missed;
  into.not_kept += other.not_kept;
  for (const auto& [reason, count] : other.rejected) into.rejected[reason] += count;
  // Of two rates the smaller one is what all of it has.
  into.rate_hz = std::min(into.rate_hz, other.rate_hz);
  into.achieved_rate_hz = std::min(into.achieved_rate_hz, other.achieved_rate_hz);
  into.idle_included = into.idle_included && other.idle_included;
}

}  // namespace

std::string_view Name(SampleMode mode) { return kModeNames[static_cast<size_t>(mode)]; }

uint64_t StackMeta::rejected_total() const {
  uint64_t total = 0;
  for (const auto& [reason, count] : rejected) total += count;
  return total;
}

int64_t StackProfile::total_weight_ns() const {
  int64_t total = 0;
  for (const StackSample& sample : samples) total += sample.weight_ns;
  return total;
}

Status Merge(StackProfile& into, const StackProfile& other) {
  if (into.meta.mode != other.meta.mode) {
    return {Code::kInvalidArgument, fmt::format("a recording of {} time and one of {} time cannot be added up",
                                                Name(into.meta.mode), Name(other.meta.mode))};
  }
  const int64_t shift_ns = OneBoot(into, other) ? 0
                                                : (other.meta.start_wall_ns - into.meta.start_wall_ns) -
                                                      (other.meta.start_ns - into.meta.start_ns);
  const std::vector<uint32_t> nodes = MergeTables(into.table, other.table);
  const std::map<uint32_t, uint32_t> processes = MergeProcesses(into.processes, other.processes);
  const auto first_thread = static_cast<uint32_t>(into.threads.size());
  for (StackThread thread : other.threads) {
    const auto process = processes.find(thread.process);
    thread.process = process == processes.end() ? 0 : process->second;
    thread.first_ns += shift_ns;
    thread.last_ns += shift_ns;
    into.threads.push_back(std::move(thread));
  }
  const uint64_t first_attempt = MergeAttempts(into, other, processes, shift_ns);
  for (StackSample sample : other.samples) {
    if (sample.attempt != 0) sample.attempt += first_attempt;
    sample.thread += first_thread;
    sample.stack = nodes[sample.stack];
    sample.time_ns += shift_ns;
    into.samples.push_back(sample);
  }
  MergeMeta(into.meta, other.meta, shift_ns);
  return {};
}

bool Continues(const StackSample& sample, const StackSample& next) {
  return sample.thread == next.thread && sample.stack == next.stack && sample.attempt == next.attempt &&
         sample.state == next.state && sample.time_ns + sample.span_ns == next.time_ns &&
         uint64_t{sample.count} + next.count <= UINT32_MAX;
}

void Extend(StackSample& sample, const StackSample& next) {
  sample.span_ns += next.span_ns;
  sample.weight_ns += next.weight_ns;
  sample.count += next.count;
}

void JoinEqualSamples(std::vector<StackSample>& samples) {
  std::stable_sort(samples.begin(), samples.end(), [](const StackSample& a, const StackSample& b) {
    return std::pair(a.thread, a.time_ns) < std::pair(b.thread, b.time_ns);
  });
  size_t kept = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (kept > 0 && Continues(samples[kept - 1], samples[i])) {
      Extend(samples[kept - 1], samples[i]);
    } else {
      samples[kept++] = samples[i];
    }
  }
  samples.resize(kept);
}

}  // namespace wf::profile
