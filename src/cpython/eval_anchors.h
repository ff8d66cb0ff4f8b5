// Which call of the C function that runs Python code (the evaluation loop) runs which frames, for stacks that show
// native frames too.
#ifndef WF_CPYTHON_EVAL_ANCHORS_H_
#define WF_CPYTHON_EVAL_ANCHORS_H_

#include <cstdint>
#include <vector>

#include "cpython/frame_translator.h"
#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

// For each entry frame of `frames` (leaf first; Frame::is_entry) an address on the C stack within the frame of the call
// that runs it; 0: not known. From 3.12 on that is its shim, a local variable of the loop; in 3.10 and 3.11 the cframe,
// another one; 3.8 and 3.9 have none.
//   3.12: Python/bytecodes.c, Python/ceval.c: `_PyInterpreterFrame entry_frame; … frame->previous = &entry_frame;`
//   3.11: Python/ceval.c: `_PyCFrame cframe; … cframe.previous = prev_cframe; … frame->is_entry = true;`
// REQUIRES: the thread (a PyThreadState lies at `thread`) does not run, and `frames` are its. `truncated`: not all.
std::vector<uint64_t> EvalAnchors(MemoryReader& memory, const Layout& layout, uint64_t thread,
                                  const std::vector<Frame>& frames, bool truncated);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_EVAL_ANCHORS_H_
