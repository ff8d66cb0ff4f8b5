#include <algorithm>

#include "app/queries.h"
#include "base/clock.h"
#include "base/states.h"
#include "store/store.h"

namespace wf::app {
namespace {

struct Candidate {
  profile::Run run;
  uint64_t bytes = 0;
};

// Why this run goes; empty: it stays. `newer` runs are kept or were judged before it, `kept_bytes` of them are kept.
std::string WhyRemove(const Candidate& candidate, const CleanRequest& request, size_t newer, uint64_t kept_bytes,
                      int64_t now_ns) {
  if (!base::IsFinal(candidate.run.state)) return "";
  if (request.keep >= 0 && newer < static_cast<size_t>(request.keep)) return "";
  if (request.older_than_ns > 0 && now_ns - candidate.run.start_wall_ns > request.older_than_ns) {
    return "older than the limit";
  }
  if (request.max_bytes >= 0 && kept_bytes + candidate.bytes > static_cast<uint64_t>(request.max_bytes)) {
    return "beyond the size limit";
  }
  const bool only_keep = request.keep >= 0 && request.older_than_ns == 0 && request.max_bytes < 0;
  return only_keep ? "not among the newest" : "";
}

Result<std::vector<Candidate>> Candidates(store::Store& store) {
  Result<std::vector<store::RunSummary>> summaries = store.ListRuns({});
  if (!summaries.ok()) return summaries.status();
  std::vector<Candidate> candidates;
  for (store::RunSummary& summary : *summaries) {
    const Result<uint64_t> bytes = store.SizeOf(summary.run.id);
    if (!bytes.ok()) return bytes.status();
    candidates.push_back({std::move(summary.run), *bytes});
  }
  return candidates;
}

}  // namespace

Result<report::Cleaning> Clean(const CleanRequest& request) {
  if (request.older_than_ns <= 0 && request.max_bytes < 0 && request.keep < 0) {
    return Status(Code::kInvalidArgument,
                  "nothing says which runs to remove; give --older-than 30d, --max-size 2GiB or --keep N");
  }
  const auto access = request.dry_run ? store::Access::kRead : store::Access::kReadWrite;
  const std::filesystem::path folder = store::Locate(request.store);
  // Cleaning must not be what makes a store.
  if (Result<std::unique_ptr<store::Store>> probe = store::Store::Open(folder, store::Access::kRead); !probe.ok()) {
    return probe.status();
  }
  Result<std::unique_ptr<store::Store>> store = store::Store::Open(folder, access);
  if (!store.ok()) return store.status();
  Result<std::vector<Candidate>> candidates = Candidates(**store);
  if (!candidates.ok()) return candidates.status();

  report::Cleaning cleaning;
  cleaning.dry_run = request.dry_run;
  const int64_t now_ns = base::WallNs();
  for (size_t i = 0; i < candidates->size(); ++i) {
    Candidate& candidate = (*candidates)[i];
    std::string reason = WhyRemove(candidate, request, i, cleaning.kept_bytes, now_ns);
    std::string failure;
    if (!reason.empty() && !request.dry_run) failure = (*store)->Remove(candidate.run.id).message();
    if (reason.empty() || !failure.empty()) {
      ++cleaning.kept;
      cleaning.kept_bytes += candidate.bytes;
    }
    if (!reason.empty()) {
      cleaning.runs.push_back({std::move(candidate.run), candidate.bytes, std::move(reason), std::move(failure)});
    }
  }
  return cleaning;
}

}  // namespace wf::app
