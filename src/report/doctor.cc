#include "report/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/json_parts.h"

namespace wf::report {
namespace {

std::string_view Word(Health health) {
  switch (health) {
    case Health::kGood: return "yes";
    case Health::kPartly: return "partly";
    case Health::kNot: return "no";
  }
  return "no";
}

Tone ToneOf(Health health) {
  if (health == Health::kGood) return Tone::kGood;
  return health == Health::kNot ? Tone::kBad : Tone::kPlain;
}

std::string ChecksText(std::string_view title, const std::vector<Check>& checks, const Style& style) {
  size_t widest = 0;
  for (const Check& check : checks) widest = std::max(widest, DisplayWidth(check.what));
  std::string text = Paint(style, Tone::kStrong, title) + "\n";
  for (const Check& check : checks) {
    const std::string padding(widest - DisplayWidth(check.what), ' ');
    std::string line = fmt::format("  {}{}  {}  {}", OneLine(check.what), padding,
                                   Paint(style, ToneOf(check.health), fmt::format("{:<6}", Word(check.health))),
                                   OneLine(check.evidence));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (!check.reason.empty()) text += fmt::format("      because {}\n", OneLine(check.reason));
    if (!check.remedy.empty()) text += fmt::format("      to change it: {}\n", OneLine(check.remedy));
  }
  return text;
}

nlohmann::json ChecksJson(const std::vector<Check>& checks) {
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : checks) {
    list.push_back({{"id", check.id},
                    {"what", check.what},
                    {"available", Word(check.health)},
                    {"evidence", check.evidence},
                    {"reason", check.reason},
                    {"remedy", check.remedy}});
  }
  return list;
}

}  // namespace

bool IsSound(const Doctor& doctor) {
  return std::none_of(doctor.installation.begin(), doctor.installation.end(),
                      [](const Check& check) { return check.health == Health::kNot; });
}

std::string DoctorText(const Doctor& doctor, const Style& style) {
  return fmt::format("Workflow {}\n\n{}\n{}", doctor.version,
                     ChecksText("What can be measured on this machine", doctor.machine, style),
                     ChecksText("The installation", doctor.installation, style));
}

std::string DoctorJson(const Doctor& doctor) {
  nlohmann::json document = Document("doctor");
  document["workflow_version"] = doctor.version;
  document["sound"] = IsSound(doctor);
  document["machine"] = ChecksJson(doctor.machine);
  document["installation"] = ChecksJson(doctor.installation);
  return ToText(document);
}

}  // namespace wf::report
