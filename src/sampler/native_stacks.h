// NativeStacks: native stacks of the threads of one process, each as one with the thread's Python frames.
//
// Threading: one thread at a time.
#ifndef WF_SAMPLER_NATIVE_STACKS_H_
#define WF_SAMPLER_NATIVE_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/address_space.h"
#include "native/memory.h"
#include "native/registers.h"
#include "sampler/target.h"

namespace wf::sampler {

class NativeStacks {
 public:
  // `most_frames` of one thread; what lies behind them is not shown.
  NativeStacks(native::AddressSpace::OpenFile open, size_t most_frames)
      : space_(std::move(open)), most_frames_(most_frames) {}

  native::AddressSpace& space() { return space_; }

  // Sets `mixed` and `native_end` from the registers of the thread and what `memory` gives of its stack as of the same
  // moment. `anchors` as of cpython::EvalAnchors. What is set is valid until the next space().KeepPlaces() or
  // SetMappings(). False when something lies where nothing is mapped: there may be new mappings.
  bool Merge(const native::Registers& registers, const native::ReadMemory& memory, const std::vector<uint64_t>& anchors,
             ThreadSample* thread);

 private:
  native::AddressSpace space_;
  const size_t most_frames_;
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_NATIVE_STACKS_H_
