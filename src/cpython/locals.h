// The local variables of a frame: names from its code object, values from the frame.
#ifndef WF_CPYTHON_LOCALS_H_
#define WF_CPYTHON_LOCALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"
#include "cpython/stack_reader.h"
#include "cpython/value_text.h"

namespace wf::cpython {

struct Local {
  std::string name;
  uint64_t address = 0;   // of the object
  bool argument = false;  // *args and **kwargs too
  std::string text;       // ValueText
};

// The arguments, locals, cells and free variables that have a value at this moment, in the order of the code object.
// Those of a module or a class body are no fast locals: none are given. The target runs on: empty, too, when the frame
// is another one by the time its values were read, so that no name has the value of another frame.
std::vector<Local> ReadLocals(MemoryReader& memory, const Layout& layout, const Frame& frame,
                              const ValueLimits& limits);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_LOCALS_H_
