#include "metrics/collector.h"

namespace wf::metrics {

void CollectorSink::Add(size_t family, double value, std::initializer_list<std::string_view> label_values) {
  if (family >= families_.size() || label_values.size() != families_[family].label_names.size()) return;
  CollectedSample sample;
  sample.value = value;
  for (std::string_view text : label_values) sample.values.push_back(ToPageText(text));
  samples_[family].push_back(std::move(sample));
}

CollectorSink Collector::Read() {
  CollectorSink sink(families_);
  const std::lock_guard guard(*mutex_);
  if (collect_) collect_(sink);
  return sink;
}

void Collector::Stop() {
  const std::lock_guard guard(*mutex_);
  collect_ = nullptr;
}

void Collector::ResetAfterFork() {
  // The thread that held it may be gone: leave that mutex behind.
  static_cast<void>(mutex_.release());
  mutex_ = std::make_unique<std::mutex>();
}

}  // namespace wf::metrics
