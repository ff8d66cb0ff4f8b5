#include <algorithm>
#include <memory>

#include "app/queries.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "report/clean.h"

namespace wf::cli {
namespace {

struct CleanOptions {
  app::CleanRequest request;
  std::string older_than;
  std::string max_size;
};

Result<int> Act(CleanOptions& options, const Context& context) {
  app::CleanRequest& request = options.request;
  request.store = context.store;
  if (!options.older_than.empty()) {
    const Result<int64_t> age = ParseDuration(options.older_than);
    if (!age.ok()) return age.status().WithContext("--older-than");
    request.older_than_ns = std::max<int64_t>(*age, 1);
  }
  if (!options.max_size.empty()) {
    const Result<int64_t> size = ParseSize(options.max_size);
    if (!size.ok()) return size.status().WithContext("--max-size");
    request.max_bytes = *size;
  }
  const Result<report::Cleaning> cleaning = app::Clean(request);
  if (!cleaning.ok()) return cleaning.status();
  Result<int> printed = PrintAs(
      context, [&](const report::Style& style) { return report::CleanText(*cleaning, style); },
      [&] { return report::CleanJson(*cleaning); });
  if (!printed.ok() || *printed != kDone) return printed;
  const bool failed = std::any_of(cleaning->runs.begin(), cleaning->runs.end(),
                                  [](const report::CleanedRun& run) { return !run.failure.empty(); });
  return failed ? kSetUpBroken : kDone;
}

}  // namespace

Action DeclareClean(Options options, Context& context) {
  auto given = std::make_shared<CleanOptions>();
  options.Text("--older-than", &given->older_than, "DURATION", "remove runs that began longer ago (30d, 12h)");
  options.Text("--max-size", &given->max_size, "SIZE", "remove the oldest until the rest fits (2GiB)");
  options.Number("--keep", &given->request.keep, "never remove the newest N; alone: remove all others");
  options.Flag("--dry-run", &given->request.dry_run, "only say what would be removed");
  AddStore(options, context);
  AddJson(options, context);
  return [given, &context] { return Act(*given, context); };
}

}  // namespace wf::cli
