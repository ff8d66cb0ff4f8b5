#include "base/states.h"

#include <array>

#include "base/check.h"

namespace wf::base {
namespace {

constexpr std::array<std::string_view, 5> kRunNames{"running", "success", "failed", "cancelled", "lost"};
constexpr std::array<std::string_view, 8> kNodeNames{"waiting", "ready",   "running",   "success",
                                                     "failed",  "skipped", "cancelled", "cached"};
constexpr std::array<std::string_view, 6> kAttemptNames{"running", "success", "error", "timeout", "cancelled", "lost"};
constexpr std::array<std::string_view, 6> kLabelNames{"success", "error", "timeout", "cancelled", "cached", "lost"};

template <typename Enum, size_t N>
std::string_view NameIn(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
}

}  // namespace

std::string_view Name(RunState state) { return NameIn(kRunNames, state); }
std::string_view Name(NodeState state) { return NameIn(kNodeNames, state); }
std::string_view Name(AttemptState state) { return NameIn(kAttemptNames, state); }
std::string_view Name(StatusLabel label) { return NameIn(kLabelNames, label); }

std::optional<RunState> ParseRunState(std::string_view name) {
  for (size_t i = 0; i < kRunNames.size(); ++i) {
    if (kRunNames[i] == name) return static_cast<RunState>(i);
  }
  return std::nullopt;
}

StatusLabel LabelOf(AttemptState state) {
  switch (state) {
    case AttemptState::kSuccess: return StatusLabel::kSuccess;
    case AttemptState::kError: return StatusLabel::kError;
    case AttemptState::kTimeout: return StatusLabel::kTimeout;
    case AttemptState::kCancelled: return StatusLabel::kCancelled;
    case AttemptState::kLost: return StatusLabel::kLost;
    case AttemptState::kRunning: break;
  }
  WF_CHECK(state != AttemptState::kRunning);
  return StatusLabel::kError;
}

}  // namespace wf::base
