#include "analysis/top_places.h"

#include <algorithm>
#include <functional>

namespace wf::analysis {
namespace {

using profile::kEmptyStack;
using profile::kNotKeptFrame;
using profile::kNotKeptStack;

constexpr std::array kUnits = {TopUnit::kFunction, TopUnit::kLine};

}  // namespace

const std::string& TopPlaces::TextOf(uint32_t string) const {
  static const std::string kNone;
  return string < strings_.size() ? strings_[string] : kNone;
}

void TopPlaces::AddFrame(const profile::Frame& frame) {
  const uint32_t name = frame.qualified_name != profile::kEmptyText ? frame.qualified_name : frame.name;
  const auto number = [this](std::vector<uint32_t> key) {
    return numbers_.try_emplace(std::move(key), static_cast<uint32_t>(numbers_.size())).first->second;
  };
  Frame& added = frames_.emplace_back();
  added.texts = frame;
  added.texts.name = name;
  const auto kind = static_cast<uint32_t>(frame.kind);
  const auto first_line = static_cast<uint32_t>(frame.first_line);
  added.function = number({kind, name, frame.file, first_line});
  added.line = number({kind, name, frame.file, first_line, static_cast<uint32_t>(frame.line)});
}

void TopPlaces::AddNode(const profile::StackNode& node) {
  Node added;
  if (!nodes_.empty()) {  // the first is the empty stack
    const bool is_sound = node.parent < nodes_.size() && node.frame < frames_.size();
    added.parent = is_sound ? node.parent : kEmptyStack;
    added.frame = is_sound ? node.frame : kNotKeptFrame;
    const Frame& frame = frames_[added.frame];
    for (uint32_t outer = added.parent; outer != kEmptyStack; outer = nodes_[outer].parent) {
      const Frame& other = frames_[nodes_[outer].frame];
      if (other.function != frame.function) continue;
      added.repeats = {true, other.line == frame.line};
      if (other.line == frame.line) break;
    }
  }
  nodes_.push_back(added);
}

void TopPlaces::Add(const profile::StackDelta& piece) {
  strings_.insert(strings_.end(), piece.strings.begin(), piece.strings.end());
  for (const profile::Frame& frame : piece.frames) AddFrame(frame);
  if (frames_.empty()) return;
  for (const profile::StackNode& node : piece.nodes) AddNode(node);
  through_ns_.resize(nodes_.size());
  is_touched_.resize(nodes_.size());
}

TopPlaces::Id TopPlaces::PlaceOf(Frame& frame, TopUnit unit) {
  Id& id = frame.places.at(static_cast<size_t>(unit));
  if (id != 0) return id;
  TopPlace place;
  place.unit = unit;
  place.kind = frame.texts.kind;
  place.name = TextOf(frame.texts.name);
  place.file = TextOf(frame.texts.file);
  place.line = unit == TopUnit::kFunction ? frame.texts.first_line : frame.texts.line;
  const auto [at, is_new] = ids_.try_emplace(place, last_id_ + 1);
  id = at->second;
  if (is_new) {
    places_.emplace(++last_id_, std::move(place));
    ++version_;
  }
  return id;
}

// Weights go from the innermost nodes outwards, each node once: a parent's number is smaller than its child's.
std::vector<TopPlaces::Visit> TopPlaces::Charge(const std::vector<std::pair<uint32_t, int64_t>>& weights) {
  std::vector<uint32_t> touched;
  std::map<Id, Visit> visits;
  for (auto [node, weight_ns] : weights) {
    if (weight_ns <= 0 || nodes_.empty()) continue;
    if (node >= nodes_.size()) node = nodes_.size() > kNotKeptStack ? kNotKeptStack : kEmptyStack;
    if (node == kEmptyStack) continue;
    for (const TopUnit unit : kUnits) visits[PlaceOf(frames_[nodes_[node].frame], unit)].own_ns += weight_ns;
    through_ns_[node] += weight_ns;
    for (uint32_t at = node; at != kEmptyStack && !is_touched_[at]; at = nodes_[at].parent) {
      is_touched_[at] = true;
      touched.push_back(at);
    }
  }
  std::sort(touched.begin(), touched.end(), std::greater<>());
  for (const uint32_t node : touched) {
    const Node& stack = nodes_[node];
    for (const TopUnit unit : kUnits) {
      if (stack.repeats.at(static_cast<size_t>(unit))) continue;
      visits[PlaceOf(frames_[stack.frame], unit)].total_ns += through_ns_[node];
    }
    if (stack.parent != kEmptyStack) through_ns_[stack.parent] += through_ns_[node];
    through_ns_[node] = 0;
    is_touched_[node] = false;
  }
  std::vector<Visit> result;
  for (auto& [place, visit] : visits) {
    visit.place = place;
    result.push_back(visit);
  }
  return result;
}

std::vector<std::string_view> TopPlaces::Files() const {
  std::vector<std::string_view> files;
  for (const auto& [id, place] : places_) files.emplace_back(place.file);
  return files;
}

void TopPlaces::Forget(const std::set<Id>& gone) {
  for (const Id place : gone) {
    const auto at = places_.find(place);
    if (at == places_.end()) continue;
    ids_.erase(at->second);
    places_.erase(at);
  }
  for (Frame& frame : frames_) {
    for (Id& place : frame.places) {
      if (gone.contains(place)) place = 0;
    }
  }
  ++version_;
}

}  // namespace wf::analysis
