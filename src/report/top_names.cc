#include "report/top_names.h"

#include <fmt/format.h>

#include "profile/escape.h"
#include "profile/file_names.h"

namespace wf::report {

using analysis::TopPlace;

void TopNames::Learn(const analysis::TopPlaces& places) {
  if (full_ || places.version() == version_) return;
  version_ = places.version();
  short_files_.clear();
  for (auto& [file, shortened] : profile::ShortFileNames(places.Files())) {
    short_files_.emplace(file, std::move(shortened));
  }
}

std::string TopNames::NameOf(const TopPlace& place) const {
  return place.name.empty() ? "<unnamed>" : profile::Visible(place.name);
}

std::string TopNames::FileOf(const TopPlace& place) const {
  if (place.kind == profile::FrameKind::kMarker) return "";
  if (place.file.empty()) return "<no filename>";
  const auto shortened = short_files_.find(place.file);
  const std::string& file = shortened == short_files_.end() ? place.file : shortened->second;
  return place.line > 0 ? fmt::format("{}:{}", profile::Visible(file), place.line) : profile::Visible(file);
}

std::string TopNames::LabelOf(const TopPlace& place) const {
  const std::string file = FileOf(place);
  return file.empty() ? NameOf(place) : fmt::format("{} ({})", NameOf(place), file);
}

}  // namespace wf::report
