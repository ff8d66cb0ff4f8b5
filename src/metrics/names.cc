#include "metrics/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace wf::metrics {
namespace {

Status Invalid(const FamilySpec& spec, std::string_view why) {
  return Status(Code::kInvalidArgument, fmt::format("{} \"{}\": {}", Name(spec.type), ToPageText(spec.name), why));
}

Status CheckLabels(const FamilySpec& spec) {
  std::vector<std::string> seen;
  for (const std::string& label : spec.label_names) {
    const std::string shown = ToPageText(label);
    if (!IsLabelName(label)) {
      return Invalid(spec, fmt::format("label name \"{}\" is not allowed; use letters, digits and underscores, not "
                                       "starting with a digit or two underscores",
                                       shown));
    }
    if (spec.type == Type::kHistogram && label == "le") {
      return Invalid(spec, "label name \"le\" belongs to the buckets; choose another");
    }
    if (std::find(seen.begin(), seen.end(), label) != seen.end()) {
      return Invalid(spec, fmt::format("label name \"{}\" is given twice", shown));
    }
    seen.push_back(label);
  }
  return Status();
}

}  // namespace

Result<FamilySpec> CheckSpec(FamilySpec spec) {
  if (spec.type == Type::kCounter && spec.name.ends_with("_total")) spec.name.resize(spec.name.size() - 6);
  if (!IsMetricName(spec.name)) {
    return Invalid(spec,
                   "the name is not allowed; use letters, digits, underscores and colons, not starting with a digit");
  }
  constexpr std::array<std::string_view, 5> kEndings = {"_total", "_count", "_sum", "_bucket", "_created"};
  for (std::string_view ending : kEndings) {
    if (!spec.name.ends_with(ending)) continue;
    return Invalid(spec,
                   fmt::format("the ending \"{}\" promises another type to every reader of the page; choose a name "
                               "without it",
                               ending));
  }
  WF_RETURN_IF_ERROR(CheckLabels(spec));
  spec.help = ToPageText(spec.help);
  return spec;
}

std::vector<std::string> SampleNames(const FamilySpec& spec) {
  switch (spec.type) {
    case Type::kCounter: return {spec.name, spec.name + "_total", spec.name + "_created"};
    case Type::kGauge: return {spec.name};
    case Type::kHistogram:
      return {spec.name, spec.name + "_bucket", spec.name + "_count", spec.name + "_sum", spec.name + "_created"};
  }
  return {};
}

}  // namespace wf::metrics
