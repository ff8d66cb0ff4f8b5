#include "sampler/merge_stacks.h"

#include <algorithm>
#include <cstddef>

namespace wf::sampler {
namespace {

constexpr size_t kNone = SIZE_MAX;

// The Python frames [begin, end) that one call runs.
struct Group {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t anchor = 0;
};

std::vector<Group> GroupsOf(const std::vector<PythonPart>& python) {
  std::vector<Group> groups;
  uint32_t begin = 0;
  for (uint32_t i = 0; i < python.size(); ++i) {
    if (!python[i].is_entry && i + 1 < python.size()) continue;
    groups.push_back({begin, i + 1, python[i].anchor});
    begin = i + 1;
  }
  return groups;
}

// Of each native frame the group that it runs. Both are in the order of the stack.
bool MatchByAnchor(const std::vector<Group>& groups, const std::vector<NativePart>& native,
                   std::vector<size_t>* group_of) {
  bool any = false;
  size_t from = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].anchor == 0) continue;
    const auto found = std::find_if(
        native.begin() + static_cast<std::ptrdiff_t>(from), native.end(),
        [&](const NativePart& part) { return part.begin <= groups[g].anchor && groups[g].anchor < part.end; });
    if (found == native.end()) continue;
    from = static_cast<size_t>(found - native.begin());
    (*group_of)[from++] = g;
    any = true;
  }
  return any;
}

void MatchByCount(const std::vector<Group>& groups, const std::vector<NativePart>& native, bool whole,
                  std::vector<size_t>* group_of) {
  std::vector<size_t> calls;
  for (size_t i = 0; i < native.size(); ++i) {
    if (native[i].is_eval) calls.push_back(i);
  }
  const size_t both = std::min(calls.size(), groups.size());
  for (size_t k = 0; k < both; ++k) {
    const size_t call = whole ? calls.size() - both + k : k;
    const size_t group = whole ? groups.size() - both + k : k;
    (*group_of)[calls[call]] = group;
  }
}

}  // namespace

bool IsEvalName(std::string_view name) { return name == "_PyEval_EvalFrameDefault" || name.starts_with("_TAIL_CALL_"); }

std::vector<MergedPart> MergeStacks(const std::vector<PythonPart>& python, const std::vector<NativePart>& native,
                                    bool whole) {
  const std::vector<Group> groups = GroupsOf(python);
  std::vector<size_t> group_of(native.size(), kNone);
  if (!MatchByAnchor(groups, native, &group_of)) MatchByCount(groups, native, whole, &group_of);
  std::vector<MergedPart> merged;
  size_t next = 0;
  const auto add_groups_before = [&](size_t end) {
    for (; next < end; ++next) {
      for (uint32_t i = groups[next].begin; i < groups[next].end; ++i) merged.push_back({true, i});
    }
  };
  for (size_t i = 0; i < native.size(); ++i) {
    if (group_of[i] == kNone) {
      merged.push_back({false, static_cast<uint32_t>(i)});
    } else {
      add_groups_before(group_of[i] + 1);
    }
  }
  add_groups_before(groups.size());
  return merged;
}

}  // namespace wf::sampler
