#include "profile/stack_recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profile/escape.h"

namespace wf::profile {
namespace {

constexpr double kNsPerSecond = 1e9;
// A file may name any thread; a recording has not that many.
constexpr uint32_t kMostThreads = 1 << 20;

Status PointsNowhere() {
  return {Code::kDataLoss, "the recorded stacks are damaged: a number points at nothing; the rest can still be read"};
}

}  // namespace

size_t StackDelta::bytes() const {
  size_t total = sizeof(*this) + frames.size() * sizeof(Frame) + nodes.size() * sizeof(StackNode);
  for (const std::string& text : strings) total += sizeof(std::string) + text.size();
  return total + threads.size() * sizeof(Thread) + samples.size() * sizeof(StackSample);
}

void StackDelta::Append(StackDelta&& later) {
  strings.insert(strings.end(), std::make_move_iterator(later.strings.begin()),
                 std::make_move_iterator(later.strings.end()));
  frames.insert(frames.end(), later.frames.begin(), later.frames.end());
  nodes.insert(nodes.end(), later.nodes.begin(), later.nodes.end());
  threads.insert(threads.end(), later.threads.begin(), later.threads.end());
  samples.insert(samples.end(), later.samples.begin(), later.samples.end());
  meta = std::move(later.meta);
}

uint32_t StackRecorder::AddThread(uint32_t process, int32_t tid, std::string_view name, int64_t time_ns) {
  const uint32_t index = threads_++;
  live_[index].thread = {process, tid, CleanText(name, kMaxTextBytes), time_ns, time_ns};
  return index;
}

void StackRecorder::RenameThread(uint32_t thread, std::string_view name) {
  const auto at = live_.find(thread);
  if (at == live_.end()) return;
  Live& live = at->second;
  std::string text = CleanText(name, kMaxTextBytes);
  if (live.thread.name == text) return;
  live.thread.name = std::move(text);
  live.is_changed = true;
}

void StackRecorder::Charge(uint32_t thread, Live& live, int64_t time_ns, int64_t clock_ns) {
  StackReading& last = live.last;
  StackSample piece;
  piece.time_ns = last.time_ns;
  piece.span_ns = time_ns - last.time_ns;
  const bool weighs = last.weighs && (meta_.mode != SampleMode::kGil || (last.state & kHoldsGil) != 0);
  piece.weight_ns = weighs ? std::max<int64_t>(0, clock_ns - last.clock_ns) : 0;
  piece.attempt = last.attempt;
  piece.thread = thread;
  piece.stack = last.stack;
  piece.count = live.is_counted ? 0 : 1;
  piece.state = last.state;
  if (live.is_open && Continues(live.open, piece)) {
    Extend(live.open, piece);
  } else {
    HandOn(live);
    live.open = piece;
    live.is_open = true;
  }
  live.is_counted = true;
  last.time_ns = time_ns;
  last.clock_ns = clock_ns;
  live.thread.last_ns = time_ns;
}

void StackRecorder::HandOn(Live& live) {
  if (live.is_open) done_.push_back(live.open);
  live.is_open = false;
}

void StackRecorder::Record(uint32_t thread, const StackReading& reading) {
  const auto at = live_.find(thread);
  if (at == live_.end()) return;
  Live& live = at->second;
  if (live.has_reading) {
    if (reading.time_ns < live.last.time_ns) return;
    Charge(thread, live, reading.time_ns, reading.clock_ns);
  } else {
    live.thread.first_ns = std::min(live.thread.first_ns, reading.time_ns);
  }
  live.last = reading;
  live.has_reading = true;
  live.is_counted = false;
  ++meta_.samples;
}

void StackRecorder::EndThread(uint32_t thread, int64_t time_ns, int64_t clock_ns) {
  const auto at = live_.find(thread);
  if (at == live_.end()) return;
  if (at->second.has_reading) {
    Charge(thread, at->second, std::max(time_ns, at->second.last.time_ns), clock_ns);
  }
  End(thread, at->second);
  live_.erase(at);
}

void StackRecorder::End(uint32_t thread, Live& live) {
  HandOn(live);
  ended_.push_back({thread, std::move(live.thread)});
}

void StackRecorder::ChargeAllUpTo(int64_t time_ns) {
  for (auto& [thread, live] : live_) {
    if (!live.has_reading || time_ns < live.last.time_ns) continue;
    if (meta_.mode != SampleMode::kCpu) Charge(thread, live, time_ns, time_ns);
  }
  meta_.not_kept = table_.not_kept();
  meta_.duration_ns = std::max(meta_.duration_ns, time_ns - meta_.start_ns);
  if (meta_.duration_ns > 0) {
    meta_.achieved_rate_hz = static_cast<double>(rounds_) * kNsPerSecond / static_cast<double>(meta_.duration_ns);
  }
}

StackDelta StackRecorder::Take(int64_t time_ns) {
  ChargeAllUpTo(time_ns);
  StackDelta delta;
  delta.threads = std::exchange(ended_, {});
  for (auto& [thread, live] : live_) {
    HandOn(live);
    if (std::exchange(live.is_changed, false)) delta.threads.push_back({thread, live.thread});
  }
  for (; strings_taken_ < table_.string_count(); ++strings_taken_) {
    delta.strings.push_back(table_.text(static_cast<uint32_t>(strings_taken_)));
  }
  for (; frames_taken_ < table_.frame_count(); ++frames_taken_) {
    delta.frames.push_back(table_.frame(static_cast<uint32_t>(frames_taken_)));
  }
  for (; nodes_taken_ < table_.node_count(); ++nodes_taken_) {
    delta.nodes.push_back(table_.node(static_cast<uint32_t>(nodes_taken_)));
  }
  delta.samples = std::exchange(done_, {});
  delta.meta = meta_;
  return delta;
}

void StackRecorder::Finish(int64_t time_ns) {
  ChargeAllUpTo(time_ns);
  for (auto& [thread, live] : live_) {
    // In CPU mode the last reading was not charged: it weighs nothing, but it was made.
    if (live.has_reading && !live.is_counted) Charge(thread, live, live.last.time_ns, live.last.clock_ns);
    End(thread, live);
  }
  live_.clear();
}

Status StackAssembler::AddTables(const StackDelta& delta) {
  StackTable& table = profile_.table;
  for (const std::string& text : delta.strings) strings_.push_back(table.Intern(text));
  for (Frame frame : delta.frames) {
    for (uint32_t* string : {&frame.name, &frame.qualified_name, &frame.file}) {
      if (*string >= strings_.size()) return PointsNowhere();
      *string = strings_[*string];
    }
    frames_.push_back(table.AddFrame(frame));
  }
  for (const StackNode& node : delta.nodes) {
    // The first node is the empty stack; each other one hangs on an earlier one, so there is no way round in circles.
    if (nodes_.empty()) {
      nodes_.push_back(kEmptyStack);
      continue;
    }
    if (node.parent >= nodes_.size() || node.frame >= frames_.size()) return PointsNowhere();
    nodes_.push_back(table.Push(nodes_[node.parent], frames_[node.frame]));
  }
  return {};
}

Status StackAssembler::Add(const StackDelta& delta) {
  WF_RETURN_IF_ERROR(AddTables(delta));
  for (const StackDelta::Thread& each : delta.threads) {
    if (each.index >= kMostThreads) return PointsNowhere();
    if (each.index >= profile_.threads.size()) profile_.threads.resize(each.index + 1);
    profile_.threads[each.index] = each.thread;
  }
  for (const StackSample& sample : delta.samples) {
    if (sample.thread >= profile_.threads.size() || sample.stack >= nodes_.size()) return PointsNowhere();
    if (sample.span_ns < 0 || sample.weight_ns < 0) return PointsNowhere();
  }
  for (StackSample sample : delta.samples) {
    sample.stack = nodes_[sample.stack];
    StackThread& thread = profile_.threads[sample.thread];
    thread.last_ns = std::max(thread.last_ns, sample.time_ns + sample.span_ns);
    profile_.samples.push_back(sample);
  }
  profile_.meta = delta.meta;
  return {};
}

StackProfile StackAssembler::Finish() {
  JoinEqualSamples(profile_.samples);
  return std::move(profile_);
}

}  // namespace wf::profile
