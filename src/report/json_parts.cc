#include "report/json_parts.h"

#include <nlohmann/json.hpp>

#include "base/states.h"
#include "report/format.h"
#include "report/rule_texts.h"

namespace wf::report {
namespace {

nlohmann::json ParamsJson(const std::map<std::string, std::string>& params) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, text] : params) {
    // The values are JSON texts, unless a damaged store says otherwise.
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    object[name] = value.is_discarded() ? nlohmann::json(text) : std::move(value);
  }
  return object;
}

std::string_view KindName(profile::RunKind kind) {
  switch (kind) {
    case profile::RunKind::kRun: return "run";
    case profile::RunKind::kRecording: return "recording";
    case profile::RunKind::kImport: return "import";
  }
  return "run";
}

}  // namespace

nlohmann::json Document(std::string_view kind) { return {{"version", 1}, {"kind", kind}}; }

std::string ToText(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string_view QualityName(profile::Quality quality) {
  switch (quality) {
    case profile::Quality::kAbsent: return "absent";
    case profile::Quality::kMeasured: return "measured";
    case profile::Quality::kEstimated: return "estimated";
    case profile::Quality::kShared: return "shared";
  }
  return "absent";
}

nlohmann::json FigureJson(const profile::Figure& figure, double scale) {
  if (!figure.present()) return nullptr;
  nlohmann::json value = figure.value;
  if (scale != 1) value = static_cast<double>(figure.value) * scale;
  return {{"value", value}, {"quality", QualityName(figure.quality)}};
}

nlohmann::json RunJson(const profile::Run& run) {
  return {
      {"id", run.id.ToString()},  {"kind", KindName(run.kind)},
      {"workflow", run.workflow}, {"file", run.file},
      {"argv", run.argv},         {"commit", run.commit},
      {"tags", run.tags},         {"params", ParamsJson(run.params)},
      {"executor", run.executor}, {"workers", run.workers},
      {"mode", run.mode},         {"usable_cpus", run.usable_cpus_milli / 1000.0},
      {"python", run.python},     {"state", base::Name(run.state)},
      {"cause", run.cause},       {"start", IsoTime(run.start_wall_ns)},
      {"ended", run.end_ns != 0},
  };
}

nlohmann::json FindingJson(const analysis::Finding& finding, Language language) {
  const RuleText text = TextOf(finding, language);
  return {
      {"rule", finding.rule},
      {"task", finding.task.empty() ? nlohmann::json() : nlohmann::json(finding.task)},
      {"figures", finding.figures},
      {"absent", finding.absent},
      {"why", text.why},
      {"try", text.advice},
  };
}

}  // namespace wf::report
