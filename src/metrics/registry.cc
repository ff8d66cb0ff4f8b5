#include "metrics/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/say.h"
#include "metrics/names.h"

namespace wf::metrics {
namespace {

FamilySpec SpecOf(Type type, std::string_view name, std::string_view help, std::vector<std::string> label_names) {
  return FamilySpec{type, std::string(name), std::string(help), std::move(label_names)};
}

bool SameBounds(const Bounds& a, const Bounds& b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

Status Clash(const FamilySpec& spec, std::string_view owner) {
  return Status(
      Code::kAlreadyExists,
      fmt::format("{} \"{}\" cannot be registered: the {} with the same names of samples, but another type, help, "
                  "labels or buckets, is there already; choose another name or a namespace",
                  Name(spec.type), spec.name, owner));
}

}  // namespace

Registry::Registry(RegistryOptions options) : task_cap_(&core_, options.most_task_pairs) {
  core_.most_series_per_family = options.most_series_per_family;
  core_.warn = options.warn ? std::move(options.warn) : base::Say;
  ForkGuard::Watch(this);
}

Registry::~Registry() {
  ForkGuard::Forget(this);
  for (Entry& entry : entries_) {
    if (entry.collector != nullptr) entry.collector->Stop();
  }
}

Result<CounterFamily*> Registry::AddCounter(std::string_view name, std::string_view help,
                                            std::vector<std::string> label_names) {
  return Add<Counter>(SpecOf(Type::kCounter, name, help, std::move(label_names)), nullptr);
}

Result<GaugeFamily*> Registry::AddGauge(std::string_view name, std::string_view help,
                                        std::vector<std::string> label_names) {
  return Add<Gauge>(SpecOf(Type::kGauge, name, help, std::move(label_names)), nullptr);
}

Result<HistogramFamily*> Registry::AddHistogram(std::string_view name, std::string_view help,
                                                std::vector<std::string> label_names,
                                                std::optional<std::span<const double>> bounds) {
  std::vector<double> extra;
  if (!bounds.has_value()) {
    const std::lock_guard guard(core_.mutex);
    default_bounds_used_ = true;
    extra = extra_bounds_;
  }
  Result<Bounds> made = MakeBounds(bounds.value_or(DefaultBounds()), extra);
  if (!made.ok()) return made.status().WithContext(fmt::format("histogram \"{}\"", ToPageText(name)));
  return Add<Histogram>(SpecOf(Type::kHistogram, name, help, std::move(label_names)), *std::move(made));
}

template <class Child>
Result<FamilyOf<Child>*> Registry::Add(FamilySpec raw, Bounds bounds) {
  Result<FamilySpec> checked = CheckSpec(std::move(raw));
  if (!checked.ok()) return checked.status();
  const FamilySpec& spec = *checked;
  const std::lock_guard guard(core_.mutex);
  for (const Entry& entry : entries_) {
    if (entry.family != nullptr && entry.family->spec() == spec && SameBounds(entry.family->bounds(), bounds)) {
      return static_cast<FamilyOf<Child>*>(entry.family.get());
    }
  }
  WF_RETURN_IF_ERROR(Claim(spec));
  auto family = std::make_unique<FamilyOf<Child>>(&core_, spec, std::move(bounds));
  FamilyOf<Child>* const raw_family = family.get();
  entries_.push_back(Entry{std::move(family), nullptr, 0});
  return raw_family;
}

Status Registry::Claim(const FamilySpec& spec) {
  const std::vector<std::string> names = SampleNames(spec);
  for (const std::string& name : names) {
    if (const auto found = owner_of_.find(name); found != owner_of_.end()) return Clash(spec, found->second);
  }
  for (const std::string& name : names) owner_of_.emplace(name, fmt::format("{} \"{}\"", Name(spec.type), spec.name));
  return Status();
}

void Registry::Release(const FamilySpec& spec) {
  for (const std::string& name : SampleNames(spec)) owner_of_.erase(name);
}

Status Registry::AddBucketBounds(std::span<const double> bounds) {
  Result<Bounds> made = MakeBounds(bounds);
  if (!made.ok()) return made.status();
  const std::lock_guard guard(core_.mutex);
  if (default_bounds_used_) {
    return Status(Code::kFailedPrecondition,
                  "bucket bounds cannot be added any more: a histogram with the default bounds exists; add them before "
                  "the first run or histogram of this process");
  }
  extra_bounds_.insert(extra_bounds_.end(), (*made)->begin(), (*made)->end());
  return Status();
}

Result<uint64_t> Registry::AddCollector(std::vector<FamilySpec> families, Collect collect) {
  for (FamilySpec& spec : families) {
    Result<FamilySpec> checked = CheckSpec(std::move(spec));
    if (!checked.ok()) return checked.status();
    if (checked->type == Type::kHistogram) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("a collector cannot provide the histogram \"{}\"; add a family instead", checked->name));
    }
    spec = *std::move(checked);
  }
  const std::lock_guard guard(core_.mutex);
  for (size_t i = 0; i < families.size(); ++i) {
    Status claimed = Claim(families[i]);
    if (claimed.ok()) continue;
    while (i > 0) Release(families[--i]);
    return claimed;
  }
  auto collector = std::make_shared<Collector>(std::move(families), std::move(collect));
  entries_.push_back(Entry{nullptr, std::move(collector), ++last_number_});
  return last_number_;
}

bool Registry::RemoveCollector(uint64_t number) {
  std::shared_ptr<Collector> collector;
  {
    const std::lock_guard guard(core_.mutex);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [number](const Entry& entry) {
      return entry.collector != nullptr && entry.number == number;
    });
    if (found == entries_.end()) return false;
    collector = found->collector;
    entries_.erase(found);
    for (const FamilySpec& spec : collector->families()) Release(spec);
  }
  collector->Stop();
  return true;
}

std::vector<Registry::Part> Registry::Parts() const {
  const std::lock_guard guard(core_.mutex);
  std::vector<Part> parts;
  parts.reserve(entries_.size());
  for (const Entry& entry : entries_) parts.push_back(Part{entry.family.get(), entry.collector});
  return parts;
}

void Registry::ResetInChild() {
  for (Entry& entry : entries_) {
    if (entry.family != nullptr) entry.family->ResetAfterFork();
    if (entry.collector != nullptr) entry.collector->ResetAfterFork();
  }
  core_.dropped.ResetAfterFork();
}

Registry& DefaultRegistry() {
  static Registry* const registry = new Registry();
  return *registry;
}

}  // namespace wf::metrics
