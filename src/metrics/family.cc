#include "metrics/family.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "metrics/registry_core.h"

namespace wf::metrics {
namespace {

// One string per combination. 0xFF never occurs in page text, so no two combinations share one.
std::string KeyOf(LabelValues values) {
  std::string key;
  for (std::string_view value : values) {
    if (IsPageText(value)) {
      key.append(value);
    } else {
      key.append(ToPageText(value));
    }
    key.push_back('\xFF');
  }
  return key;
}

}  // namespace

void RegistryCore::CountDropped(std::string_view what, size_t limit) {
  dropped.Inc();
  if (warned.exchange(true) || !warn) return;
  warn(fmt::format(
      "metrics: more than {} label sets for {}; further ones are counted under \"{}\". Keep ids, file names "
      "and arguments out of task names and labels",
      limit, what, kOther));
}

template <class Child>
FamilyOf<Child>::FamilyOf(RegistryCore* core, FamilySpec spec, Bounds bounds)
    : Family(core, std::move(spec), std::move(bounds)) {
  if (!spec_.label_names.empty()) return;
  auto only = Make({});
  by_values_.emplace(std::string(), only);
  list_.push_back(std::move(only));
}

template <class Child>
std::shared_ptr<Series<Child>> FamilyOf<Child>::Make(LabelValues values) const {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (std::string_view value : values) texts.push_back(ToPageText(value));
  std::string label_text = LabelText(spec_.label_names, texts);
  if constexpr (std::is_same_v<Child, Histogram>) {
    return std::make_shared<Series<Child>>(std::move(texts), std::move(label_text), bounds_);
  } else {
    return std::make_shared<Series<Child>>(std::move(texts), std::move(label_text));
  }
}

template <class Child>
std::shared_ptr<Child> FamilyOf<Child>::With(LabelValues values) {
  WF_CHECK(values.size() == spec_.label_names.size());
  const std::string key = KeyOf(values);
  const auto child_of = [](const std::shared_ptr<Series<Child>>& series) {
    return std::shared_ptr<Child>(series, &series->child);
  };
  {
    const std::lock_guard guard(core_->mutex);
    if (auto found = by_values_.find(key); found != by_values_.end()) return child_of(found->second);
    if (list_.size() < core_->most_series_per_family) {
      auto series = Make(values);
      by_values_.emplace(key, series);
      list_.push_back(series);
      snapshot_.reset();
      return child_of(series);
    }
  }
  core_->CountDropped(spec_.name, core_->most_series_per_family);
  const std::vector<std::string_view> others(values.size(), kOther);
  const std::string other_key = KeyOf(others);
  const std::lock_guard guard(core_->mutex);
  auto& other = by_values_[other_key];
  if (other == nullptr) {
    other = Make(others);
    list_.push_back(other);
    snapshot_.reset();
  }
  return child_of(other);
}

template <class Child>
bool FamilyOf<Child>::Remove(LabelValues values)
  requires std::is_same_v<Child, Gauge>
{
  const std::string key = KeyOf(values);
  const std::lock_guard guard(core_->mutex);
  const auto found = by_values_.find(key);
  if (found == by_values_.end()) return false;
  list_.erase(std::find(list_.begin(), list_.end(), found->second));
  by_values_.erase(found);
  snapshot_.reset();
  return true;
}

template <class Child>
std::shared_ptr<const typename FamilyOf<Child>::List> FamilyOf<Child>::Children() const {
  const std::lock_guard guard(core_->mutex);
  if (snapshot_ == nullptr) snapshot_ = std::make_shared<const List>(list_);
  return snapshot_;
}

template <class Child>
void FamilyOf<Child>::ResetAfterFork() {
  for (const auto& series : list_) series->child.ResetAfterFork();
}

template class FamilyOf<Counter>;
template class FamilyOf<Gauge>;
template class FamilyOf<Histogram>;

}  // namespace wf::metrics
