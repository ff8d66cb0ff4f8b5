// Native and Python frames of one thread as one stack.
//
// Each Python frame is run by a call of the evaluation loop, a native frame; from 3.11 on one call may run several. The
// Python frames take the place of the call that runs them.
#ifndef WF_SAMPLER_MERGE_STACKS_H_
#define WF_SAMPLER_MERGE_STACKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace wf::sampler {

struct PythonPart {
  bool is_entry = false;  // the outermost of those that its call runs
  uint64_t anchor = 0;    // of an entry frame: an address within the native frame of the call; 0: not known
};

struct NativePart {
  uint64_t begin = 0;  // of the frame on the stack
  uint64_t end = 0;
  bool is_eval = false;  // by its name a call of the evaluation loop, or a part of one
};

struct MergedPart {
  bool is_python = false;
  uint32_t index = 0;  // in the vector of its kind
  bool operator==(const MergedPart&) const = default;
};

// Whether a function of that name is the evaluation loop, or a part that was split off from it.
bool IsEvalName(std::string_view name);

// All leaf first. `whole`: both stacks reach their roots, so that calls without an anchor are counted from there;
// otherwise from the leaf. Python frames for which there is no call come before those that have one, or last.
std::vector<MergedPart> MergeStacks(const std::vector<PythonPart>& python, const std::vector<NativePart>& native,
                                    bool whole);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_MERGE_STACKS_H_
