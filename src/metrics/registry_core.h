// RegistryCore: what a registry and its families share. Internal to this room.
#ifndef WF_METRICS_REGISTRY_CORE_H_
#define WF_METRICS_REGISTRY_CORE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>

#include "metrics/counter.h"

namespace wf::metrics {

struct RegistryCore {
  // Guards the list of families and the children of each; held for a look-up, never while a page is written.
  std::mutex mutex;
  size_t most_series_per_family = 0;
  std::function<void(std::string_view)> warn;  // may be called by any thread, without the mutex
  std::atomic<bool> warned{false};
  Counter dropped;  // look-ups that were sent to "__other__"

  // Counts one look-up that went to "__other__"; warns the first time. REQUIRES: mutex not held.
  void CountDropped(std::string_view what, size_t limit);
};

inline constexpr std::string_view kOther = "__other__";

}  // namespace wf::metrics

#endif  // WF_METRICS_REGISTRY_CORE_H_
