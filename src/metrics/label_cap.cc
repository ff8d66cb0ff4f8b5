#include "metrics/label_cap.h"

#include <mutex>

#include "metrics/registry_core.h"

namespace wf::metrics {

std::pair<std::string, std::string> LabelCap::AdmitTask(std::string_view workflow, std::string_view task) {
  std::pair<std::string, std::string> pair(workflow, task);
  bool workflow_known = false;
  {
    const std::lock_guard guard(core_->mutex);
    if (pairs_.contains(pair)) return pair;
    workflow_known = workflows_.contains(workflow);
    if (pairs_.size() < most_ && (workflow_known || workflows_.size() < most_)) {
      workflows_.emplace(workflow);
      pairs_.insert(pair);
      return pair;
    }
  }
  core_->CountDropped("(workflow, task)", most_);
  if (!workflow_known) pair.first = kOther;
  pair.second = kOther;
  return pair;
}

std::string LabelCap::AdmitWorkflow(std::string_view workflow) {
  {
    const std::lock_guard guard(core_->mutex);
    if (workflows_.contains(workflow)) return std::string(workflow);
    if (workflows_.size() < most_) return *workflows_.emplace(workflow).first;
  }
  core_->CountDropped("workflow", most_);
  return std::string(kOther);
}

}  // namespace wf::metrics
