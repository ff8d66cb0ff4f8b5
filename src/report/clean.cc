#include "report/clean.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace wf::report {
namespace {

uint64_t FreedBytes(const Cleaning& cleaning) {
  uint64_t bytes = 0;
  for (const CleanedRun& run : cleaning.runs) bytes += run.failure.empty() ? run.bytes : 0;
  return bytes;
}

uint64_t Removed(const Cleaning& cleaning) {
  uint64_t count = 0;
  for (const CleanedRun& run : cleaning.runs) count += run.failure.empty() ? 1 : 0;
  return count;
}

}  // namespace

std::string CleanText(const Cleaning& cleaning, const Style& style) {
  std::string text;
  if (!cleaning.runs.empty()) {
    Table table({{"run", Align::kLeft},
                 {"workflow", Align::kLeft, true},
                 {"started", Align::kLeft},
                 {"size"},
                 {"why", Align::kLeft}});
    for (const CleanedRun& run : cleaning.runs) {
      const std::string why = run.failure.empty() ? run.reason : "not removed: " + OneLine(run.failure);
      table.AddRow({run.run.id.ToString(), OneLine(run.run.workflow), LocalTime(run.run.start_wall_ns),
                    Bytes(static_cast<double>(run.bytes), style.language),
                    Cell(why, run.failure.empty() ? Tone::kPlain : Tone::kBad)});
    }
    text += table.Render(style);
  }
  const uint64_t removed = Removed(cleaning);
  text += fmt::format("{} {} run{} ({}), {} kept ({})\n", cleaning.dry_run ? "would remove" : "removed", removed,
                      removed == 1 ? "" : "s", Bytes(static_cast<double>(FreedBytes(cleaning)), style.language),
                      cleaning.kept, Bytes(static_cast<double>(cleaning.kept_bytes), style.language));
  return text;
}

std::string CleanJson(const Cleaning& cleaning) {
  nlohmann::json document = Document("clean");
  document["dry_run"] = cleaning.dry_run;
  document["runs"] = nlohmann::json::array();
  for (const CleanedRun& run : cleaning.runs) {
    document["runs"].push_back({{"id", run.run.id.ToString()},
                                {"workflow", run.run.workflow},
                                {"bytes", run.bytes},
                                {"reason", run.reason},
                                {"removed", run.failure.empty() && !cleaning.dry_run},
                                {"failure", run.failure}});
  }
  document["removed_bytes"] = FreedBytes(cleaning);
  document["kept"] = cleaning.kept;
  document["kept_bytes"] = cleaning.kept_bytes;
  return ToText(document);
}

}  // namespace wf::report
