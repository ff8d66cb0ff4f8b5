// AddressSpace: which file lies where in a target, so that an address becomes a place in an Image.
//
// Threading: one thread at a time.
#ifndef WF_NATIVE_ADDRESS_SPACE_H_
#define WF_NATIVE_ADDRESS_SPACE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/fd.h"
#include "native/image.h"

namespace wf::native {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file
  bool is_code = false;
  std::string device;  // "08:01"; with the inode: which file
  uint64_t inode = 0;
  std::string path;  // "/usr/lib/libc.so.6", "[vdso]"; empty: no file
};

// From the text of /proc/<pid>/maps, sorted by address; at most 65,536.
std::vector<Mapping> MappingsIn(std::string_view maps);

// A function in a stack, with where it lies.
struct Place {
  Function function;
  std::string module;    // path of the program or library; empty: no file lies there
  uint64_t address = 0;  // in the module; in memory when there is none
  // In the same terms, the begin of the code around it that is unwound alike: a function without its first and last
  // instructions, mostly. The address itself when no file tells.
  uint64_t code_begin = 0;
};

class AddressSpace {
 public:
  // The file of a mapping, invalid when it cannot be had. Asked once per file.
  using OpenFile = std::function<base::Fd(const Mapping& mapping)>;

  explicit AddressSpace(OpenFile open) : open_(std::move(open)) {}

  // What is mapped from now on. Files that were opened stay known.
  void SetMappings(std::vector<Mapping> mappings);

  // nullptr when nothing is mapped there.
  const Mapping* Find(uint64_t address) const;
  // How to get from there to the caller; nullptr when no file tells. Valid until the next call.
  const UnwindRow* RowAt(uint64_t address);
  // The functions at an address, the innermost of inlined ones first; never empty. Valid until SetMappings finds other
  // mappings, or very many places were asked for: call KeepPlaces first, whenever earlier ones are not needed any more.
  const std::vector<Place>& PlacesAt(uint64_t address);
  void KeepPlaces();
  // Goes up whenever places that were given out are gone.
  uint64_t generation() const { return generation_; }

 private:
  static constexpr size_t kMostPlaces = 1 << 15;

  struct Found {
    Image* image = nullptr;
    uint64_t address = 0;  // in the file
  };
  Found ImageAt(uint64_t address, const Mapping& mapping);
  void ForgetPlaces();

  const OpenFile open_;
  std::vector<Mapping> mappings_;
  std::map<std::tuple<std::string, uint64_t, std::string>, std::unique_ptr<Image>> images_;  // nullptr: not to be had
  std::map<uint64_t, std::vector<Place>> places_;
  uint64_t generation_ = 1;
};

}  // namespace wf::native

#endif  // WF_NATIVE_ADDRESS_SPACE_H_
