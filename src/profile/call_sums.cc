#include "profile/call_sums.h"

namespace wf::profile {
namespace {

void AddSelf(FoldedWeight& sum, const FoldedWeight& weight) {
  sum.self_ns += weight.self_ns;
  sum.self_count += weight.self_count;
}

void AddTotal(FoldedWeight& sum, const FoldedWeight& weight) {
  sum.total_ns += weight.total_ns;
  sum.total_count += weight.total_count;
}

struct Step {
  uint32_t node = 0;
  bool is_end = false;
};

}  // namespace

CallSums SumCalls(const StackView& view, const std::vector<FoldedWeight>& weights,
                  const std::vector<uint32_t>& key_of_frame, size_t key_count) {
  std::vector<std::vector<uint32_t>> children(view.node_count());
  for (uint32_t node = 1; node < view.node_count(); ++node) children[view.node(node).parent].push_back(node);
  CallSums sums;
  sums.keys.resize(key_count);
  // How often each key and call is in the stack that is walked right now. No recursion: stacks may be thousands deep.
  std::vector<uint32_t> open_keys(key_count);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> open_calls;
  std::vector<Step> steps;
  for (const uint32_t child : children[0]) steps.push_back({child, false});
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    const StackNode& node = view.node(step.node);
    const uint32_t key = key_of_frame[node.frame];
    const bool is_called = node.parent != 0;
    const auto call = std::pair(key, is_called ? key_of_frame[view.node(node.parent).frame] : 0);
    if (step.is_end) {
      --open_keys[key];
      if (is_called) --open_calls[call];
      continue;
    }
    const FoldedWeight& weight = weights[step.node];
    AddSelf(sums.keys[key], weight);
    if (open_keys[key]++ == 0) AddTotal(sums.keys[key], weight);
    if (is_called) {
      FoldedWeight& sum = sums.calls[call];
      AddSelf(sum, weight);
      if (open_calls[call]++ == 0) AddTotal(sum, weight);
    }
    steps.push_back({step.node, true});
    for (const uint32_t child : children[step.node]) steps.push_back({child, false});
  }
  return sums;
}

}  // namespace wf::profile
