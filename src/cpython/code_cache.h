// CodeCache: what the code objects of a target say: names, file, lines.
//
// A code object's address is reused within seconds in programs that make and drop code, so an entry is never believed
// by address alone: before each use its fields, version included, are compared with what lies there now; before 3.12,
// which has no version, the texts of name and file too. An entry is replaced as a whole: name, file and line always
// belong together.
#ifndef WF_CPYTHON_CODE_CACHE_H_
#define WF_CPYTHON_CODE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

// One code object, immutable; the same pointer as long as it is the same code.
struct Code {
  uint64_t id = 0;  // of this code alone, in this process, ever
  std::string name;
  std::string qualname;  // empty before 3.11, which does not store it
  std::string filename;  // "<no filename>" when it is empty
  int32_t first_line = 0;
  uint32_t minor = 0;
  bool is_marker = false;       // no code of the target's: something between two frames, such as "<interpreter 1>"
  bool suspends = false;        // a generator, coroutine or asynchronous generator
  int64_t begin = 0;            // offset of the first instruction from the object; 0 before 3.11
  int64_t bytes = 0;            // of instructions; 0 before 3.11
  int64_t first_traceable = 0;  // byte offset: frames before it have not begun
  std::vector<std::byte> line_table;

  // The line at a byte offset of the instructions; 0: it belongs to no line.
  int32_t LineAt(int64_t offset) const;
};

// A code of ours for a frame that stands for no function, called `text`.
std::shared_ptr<const Code> MakeMarker(std::string text);

class CodeCache {
 public:
  // `code_type`: address of PyCode_Type, 0 when unknown: then it is not compared.
  CodeCache(const Layout& layout, uint64_t code_type) : layout_(layout), code_type_(code_type) {}

  // Makes the entries of these code objects right as of now. With `unchanged` the caller knows that no code was made
  // since the last call (the interpreters' counters stand still): entries that are there are then taken as they are.
  // Whether anything had to be read for it.
  bool Refresh(MemoryReader& memory, std::span<const uint64_t> addresses, bool unchanged);

  // As of the last Refresh with this address; nullptr when there is no sound code object. Valid until the next Refresh.
  const std::shared_ptr<const Code>* Find(uint64_t address) const;

  // Goes up whenever code may have been made since: what was right as of one epoch is so while it lasts.
  uint64_t epoch() const { return epoch_; }
  // Goes up whenever a code object was found to be another one: while it stands, what Find gave is what it gives.
  uint64_t generation() const { return generation_; }

  // Forgets everything when that has become too much. Call before the addresses for Refresh are gathered.
  void Trim();

  size_t size() const { return entries_.size(); }

 private:
  static constexpr size_t kMostEntries = 1 << 14;
  static constexpr size_t kMostBytes = 8 << 20;  // of texts and line tables: a hostile target has many large ones

  // The fields that tell one code object from another.
  struct Key {
    uint64_t type = 0, name = 0, qualname = 0, filename = 0, line_table = 0, instructions = 0, units = 0;
    int32_t first_line = 0;
    int32_t first_traceable = 0;
    uint32_t version = 0;
    uint32_t flags = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::shared_ptr<const Code> code;
    uint64_t epoch = 0;  // when it was last compared with the target
  };

  Key KeyOf(std::span<const std::byte> object) const;
  std::vector<std::optional<Key>> ReadKeys(MemoryReader& memory, std::span<const uint64_t> addresses) const;
  bool IsSound(const Key& key) const;
  void DropThoseWithOtherTexts(MemoryReader& memory, std::vector<uint64_t>* kept, std::vector<uint64_t>* wanted);
  void Load(MemoryReader& memory, const std::vector<uint64_t>& addresses, const std::vector<Key>& keys);
  std::shared_ptr<const Code> Decode(MemoryReader& memory, const Key& key) const;
  void Forget(uint64_t address);

  const Layout layout_;
  const uint64_t code_type_;
  std::unordered_map<uint64_t, Entry> entries_;
  uint64_t epoch_ = 1;
  uint64_t generation_ = 1;
  size_t bytes_ = 0;  // of what entries_ hold
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_CODE_CACHE_H_
