// The states of the model, each one-way. The numbers are stored in runs.db: append, never renumber.
#ifndef WF_BASE_STATES_H_
#define WF_BASE_STATES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace wf::base {

enum class RunState : uint8_t { kRunning = 0, kSuccess = 1, kFailed = 2, kCancelled = 3, kLost = 4 };

enum class NodeState : uint8_t {
  kWaiting = 0,
  kReady = 1,
  kRunning = 2,
  kSuccess = 3,
  kFailed = 4,
  kSkipped = 5,
  kCancelled = 6,
  kCached = 7,
};

enum class AttemptState : uint8_t {
  kRunning = 0,
  kSuccess = 1,
  kError = 2,
  kTimeout = 3,
  kCancelled = 4,
  kLost = 5,  // its worker died
};

// The `status` label of metrics.
enum class StatusLabel : uint8_t { kSuccess = 0, kError, kTimeout, kCancelled, kCached, kLost };
inline constexpr int kStatusLabelCount = 6;

// Lower-case names as shown to people and written to JSON: "running", "success", ...
std::string_view Name(RunState state);
std::string_view Name(NodeState state);
std::string_view Name(AttemptState state);
std::string_view Name(StatusLabel label);

// The inverse of Name; nullopt for a name that is none of ours.
std::optional<RunState> ParseRunState(std::string_view name);

constexpr bool IsFinal(RunState s) { return s != RunState::kRunning; }
constexpr bool IsFinal(NodeState s) { return s >= NodeState::kSuccess; }
constexpr bool IsFinal(AttemptState s) { return s != AttemptState::kRunning; }

// REQUIRES: IsFinal(state).
StatusLabel LabelOf(AttemptState state);

}  // namespace wf::base

#endif  // WF_BASE_STATES_H_
