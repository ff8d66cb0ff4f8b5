#include "cpython/eval_anchors.h"

#include <algorithm>
#include <cstddef>

namespace wf::cpython {
namespace {

std::vector<uint64_t> FromShims(MemoryReader& memory, const Layout& layout, const std::vector<uint64_t>& entries) {
  std::vector<uint64_t> anchors(entries.size());
  std::vector<Segment> segments;
  for (size_t i = 0; i < entries.size(); ++i) {
    segments.push_back({entries[i] + layout.frame.previous, &anchors[i], sizeof(anchors[i])});
  }
  memory.Read(segments);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!segments[i].ok || !IsPlausiblePointer(anchors[i])) anchors[i] = 0;
  }
  return anchors;
}

// The outermost cframe is the thread state's own and belongs to no call; there may be one more at the leaf, of a call
// whose frame is not linked yet.
std::vector<uint64_t> FromCframes(MemoryReader& memory, const Layout& layout, uint64_t thread, size_t entries,
                                  bool truncated) {
  constexpr size_t kMoreThanEntries = 8;
  std::vector<uint64_t> found;
  auto at = memory.Get<uint64_t>(thread + layout.thread.cframe);
  bool whole = false;
  while (at && IsPlausiblePointer(*at) && found.size() < entries + kMoreThanEntries) {
    whole = *at >= thread && *at < thread + layout.thread.size;
    if (whole) break;
    found.push_back(*at);
    at = memory.Get<uint64_t>(*at + layout.cframe.previous);
  }
  if (whole && !truncated && found.size() > entries) {
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(found.size() - entries));
  }
  if (whole && !truncated && found.size() < entries) return std::vector<uint64_t>(entries);
  found.resize(entries);
  return found;
}

}  // namespace

std::vector<uint64_t> EvalAnchors(MemoryReader& memory, const Layout& layout, uint64_t thread,
                                  const std::vector<Frame>& frames, bool truncated) {
  std::vector<uint64_t> entries;
  for (const Frame& frame : frames) {
    if (frame.is_entry) entries.push_back(frame.address);
  }
  if (layout.frame.first_shim != kAbsent) return FromShims(memory, layout, entries);
  if (layout.cframe.previous != kAbsent) return FromCframes(memory, layout, thread, entries.size(), truncated);
  return std::vector<uint64_t>(entries.size());
}

}  // namespace wf::cpython
