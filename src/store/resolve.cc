#include "store/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace wf::store {
namespace {

constexpr size_t kLeastPart = 4;
constexpr size_t kMostNamed = 5;

std::string Listed(std::span<const RunName> runs) {
  std::string out;
  for (const RunName& run : runs.first(std::min(runs.size(), kMostNamed))) {
    if (!out.empty()) out += ", ";
    out += run.workflow.empty() ? run.id.ToString() : fmt::format("{} ({})", run.id.ToString(), run.workflow);
  }
  if (runs.size() > kMostNamed) out += fmt::format(" and {} more", runs.size() - kMostNamed);
  return out;
}

// N of "last~N", 0 for "last"; nullopt for anything else.
std::optional<size_t> StepsBack(std::string_view text) {
  if (!text.starts_with("last")) return std::nullopt;
  text.remove_prefix(4);
  if (text.empty()) return 0;
  size_t steps = 0;
  if (text[0] != '~') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), steps);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return steps;
}

// Those that share the longest beginning with `text`, the newest of them first.
std::vector<RunName> Nearest(std::span<const RunName> runs, std::string_view text) {
  const auto shared = [text](const RunName& run) {
    const std::string id = run.id.ToString();
    return std::mismatch(id.begin(), id.end(), text.begin(), text.end()).first - id.begin();
  };
  std::vector<RunName> sorted(runs.begin(), runs.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const RunName& a, const RunName& b) { return shared(a) > shared(b); });
  sorted.resize(std::min<size_t>(sorted.size(), 3));
  return sorted;
}

}  // namespace

Result<base::RunId> ResolveAmong(std::span<const RunName> runs, std::string_view text) {
  if (runs.empty()) return Status(Code::kNotFound, "the store holds no runs yet: make one with `wf run pipeline.py`");
  if (const std::optional<size_t> steps = StepsBack(text)) {
    if (*steps < runs.size()) return runs[*steps].id;
    return Status(Code::kNotFound, fmt::format("there is no run {}: the store holds {} run{}, the oldest is last~{}",
                                               text, runs.size(), runs.size() == 1 ? "" : "s", runs.size() - 1));
  }
  std::string wanted(text);
  for (char& c : wanted) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (wanted.size() < kLeastPart) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is too short for a run: give at least {} characters of its id, or last, last~1, "
                              "tag:key=value (see `wf runs`)",
                              text, kLeastPart));
  }
  std::vector<RunName> matches;
  for (const RunName& run : runs) {
    const std::string id = run.id.ToString();
    if (id.starts_with(wanted) || id.ends_with(wanted)) matches.push_back(run);
  }
  if (matches.size() == 1) return matches.front().id;
  if (matches.empty()) {
    return Status(Code::kNotFound, fmt::format("no run is named '{}'; near it: {} (see `wf runs`)", text,
                                               Listed(Nearest(runs, wanted))));
  }
  return Status(Code::kInvalidArgument,
                fmt::format("'{}' fits {} runs: {}; give more characters, from the end of the id", text, matches.size(),
                            Listed(matches)));
}

}  // namespace wf::store
