// CallSums: a folded tree seen per function or per line instead of per stack. What calls itself is counted once: the
// total of a key is the weight of all stacks that hold it, however often.
#ifndef WF_PROFILE_CALL_SUMS_H_
#define WF_PROFILE_CALL_SUMS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profile/stack_view.h"

namespace wf::profile {

struct CallSums {
  std::vector<FoldedWeight> keys;
  // (key, key of its caller) -> weight of the stacks that hold this call.
  std::map<std::pair<uint32_t, uint32_t>, FoldedWeight> calls;
};

// `key_of_frame`: of each shown frame of the view, numbers below `key_count`.
CallSums SumCalls(const StackView& view, const std::vector<FoldedWeight>& weights,
                  const std::vector<uint32_t>& key_of_frame, size_t key_count);

}  // namespace wf::profile

#endif  // WF_PROFILE_CALL_SUMS_H_
