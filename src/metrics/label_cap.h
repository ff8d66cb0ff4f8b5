// LabelCap: keeps the number of (workflow, task) pairs on the page bounded.
//
// The first `most_pairs` pairs keep their names. Further ones become (workflow, "__other__"), or ("__other__",
// "__other__") when the workflow is new too; each such look-up counts in metrics_labelsets_dropped_total, and the first
// one warns. Names that were admitted stay so for the life of the process. Any thread may call it.
#ifndef WF_METRICS_LABEL_CAP_H_
#define WF_METRICS_LABEL_CAP_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace wf::metrics {

struct RegistryCore;

class LabelCap {
 public:
  LabelCap(RegistryCore* core, size_t most_pairs) : core_(core), most_(most_pairs) {}

  // The pair to use as labels (workflow, task).
  std::pair<std::string, std::string> AdmitTask(std::string_view workflow, std::string_view task);
  // The workflow to use as label.
  std::string AdmitWorkflow(std::string_view workflow);

 private:
  RegistryCore* const core_;
  const size_t most_;
  std::set<std::pair<std::string, std::string>> pairs_;  // guarded by core_->mutex
  std::set<std::string, std::less<>> workflows_;         // guarded by core_->mutex
};

}  // namespace wf::metrics

#endif  // WF_METRICS_LABEL_CAP_H_
