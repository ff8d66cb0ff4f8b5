#include "store/lost_run.h"

#include <fmt/format.h>

#include "base/clock.h"

namespace wf::store {

std::string WhyLost(const RunRow& row, base::Liveness liveness, int64_t now_wall_ns) {
  if (base::IsFinal(row.run.state)) return {};
  if (row.closed) return fmt::format("owner process {} closed the run without giving it a final state", row.owner.pid);
  const int64_t silence_ns = now_wall_ns - row.heartbeat_wall_ns;
  switch (liveness) {
    case base::Liveness::kAlive: return {};
    case base::Liveness::kDead: return fmt::format("owner process {} ended without closing the run", row.owner.pid);
    case base::Liveness::kRebooted: return "the machine was restarted while the run was going";
    case base::Liveness::kUnknown: break;
  }
  if (silence_ns <= kMostSilenceNs) return {};
  return fmt::format("owner process {} on {} has given no sign of life for {} s", row.owner.pid, row.owner.host,
                     silence_ns / 1'000'000'000);
}

void JudgeRun(RunRow& row) {
  if (base::IsFinal(row.run.state)) return;
  const std::string why = WhyLost(row, base::LivenessOf(row.owner), base::WallNs());
  if (why.empty()) return;
  row.run.state = base::RunState::kLost;
  row.run.cause = why;
  if (row.run.end_ns == 0) row.run.end_ns = row.heartbeat_ns;
}

void CloseOpenRows(profile::RunRecord& record) {
  if (record.run.state != base::RunState::kLost) return;
  for (profile::Node& node : record.nodes) {
    if (node.state != base::NodeState::kRunning) continue;
    node.state = base::NodeState::kFailed;
    node.cause = record.run.cause;
    node.end_ns = record.run.end_ns;
  }
  for (profile::Attempt& attempt : record.attempts) {
    if (attempt.state != base::AttemptState::kRunning) continue;
    attempt.state = base::AttemptState::kLost;
    attempt.cause = record.run.cause;
    attempt.end_ns = record.run.end_ns;
  }
}

}  // namespace wf::store
