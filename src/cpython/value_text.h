// ValueText: what a value of a target looks like, written as Python's repr does, from its memory alone: nothing of the
// target is called.
//
// None, bool, int, float, str, bytes, list, tuple, dict, set and frozenset of such are written out, subclasses of them
// with the name of their class around: `Point((1, 2))`; all else is `<Type at 0x…>`, what cannot be read
// `<unreadable>`. Long ones end in "...". The target runs on and its bytes are hostile: depth, number of items, number
// of objects and length of the text are all bounded.
#ifndef WF_CPYTHON_VALUE_TEXT_H_
#define WF_CPYTHON_VALUE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

struct ValueLimits {
  size_t bytes = 128;    // of the text; brackets and "..." come on top
  size_t items = 32;     // of each container
  size_t depth = 8;      // of containers in containers
  size_t objects = 256;  // read for one value
};

// The text of a float as repr() gives it: the shortest that reads back as the same.
std::string FloatText(double value);

// One thread at a time. `memory` and `layout` must outlive it.
class ValueText {
 public:
  ValueText(MemoryReader& memory, const Layout& layout, const ValueLimits& limits)
      : memory_(memory), layout_(layout), limits_(limits) {}

  // Valid UTF-8 without control characters.
  std::string Of(uint64_t object);
  // "dict", "OrderedDict" (without the module); nullopt when it cannot be read.
  std::optional<std::string> TypeName(uint64_t object);

 private:
  struct Type {
    std::string name;
    uint64_t flags = 0;
  };

  std::optional<Type> TypeOf(uint64_t object);
  void Append(uint64_t object, size_t depth);
  bool AppendKnown(uint64_t object, const Type& type, size_t depth);
  bool AppendBuiltin(uint64_t object, const std::string& name);
  bool AppendInteger(uint64_t object, bool is_bool);
  bool AppendString(uint64_t object);
  bool AppendBytes(uint64_t object);
  bool AppendSequence(uint64_t object, bool is_list, size_t depth);
  bool AppendDict(uint64_t object, size_t depth);
  bool AppendSet(uint64_t object, const std::string& name, size_t depth);
  bool IsFull() const { return text_.size() >= limits_.bytes || objects_ >= limits_.objects; }

  MemoryReader& memory_;
  const Layout& layout_;
  const ValueLimits limits_;
  std::string text_;
  size_t objects_ = 0;
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_VALUE_TEXT_H_
