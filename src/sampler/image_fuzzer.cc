// Programs and libraries as they lie in a target's memory: their symbols and build ids, from raw bytes.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "cpython/elf_image.h"
#include "cpython/runtime.h"
#include "sampler/build_id.h"
#include "sampler/core_file_testing.h"

namespace wf::sampler {
namespace {

constexpr uint64_t kBase = 0x10000;

class ImageMemory final : public cpython::MemoryReader {
 public:
  explicit ImageMemory(std::string_view bytes) : bytes_(bytes) {}
  void Read(std::span<cpython::Segment> segments) override {
    for (cpython::Segment& segment : segments) {
      ++reads;
      const uint64_t at = segment.address - kBase;
      segment.ok = at <= bytes_.size() && segment.bytes <= bytes_.size() - at;
      if (segment.ok && segment.bytes > 0) std::memcpy(segment.into, bytes_.data() + at, segment.bytes);
    }
  }
  uint64_t reads = 0;

 private:
  std::string_view bytes_;
};

// A library with one symbol, found by either kind of hash table.
std::string Library(bool gnu) {
  std::string bytes(0x400, '\0');
  const auto put = [&](size_t at, const auto& value) { bytes.replace(at, sizeof(value), base::FuzzerBytes(value)); };
  const Elf64_Ehdr header = ElfHeader(3);
  put(0, header);
  put(header.e_phoff, Elf64_Phdr{PT_LOAD, PF_R | PF_W, 0, 0, 0, bytes.size(), bytes.size(), kPage});
  put(header.e_phoff + 56, Elf64_Phdr{PT_DYNAMIC, PF_R, 0x100, 0x100, 0x100, 80, 80, 8});
  put(header.e_phoff + 112, Elf64_Phdr{PT_NOTE, PF_R, 0x380, 0x380, 0x380, 36, 36, 4});
  put(0x100, Elf64_Dyn{DT_SYMTAB, {0x180}});
  put(0x110, Elf64_Dyn{DT_STRTAB, {0x200}});
  put(0x120, Elf64_Dyn{gnu ? DT_GNU_HASH : DT_HASH, {0x280}});
  put(0x198, Elf64_Sym{1, STT_OBJECT, 0, 1, 0x300, 8});
  bytes.replace(0x201, 10, "_PyRuntime");
  for (size_t at = 0x280; at < 0x300; at += 4) put(at, uint32_t{1});
  bytes.replace(0x300, 8, "xdebugpy");
  bytes.replace(0x380, 36, Note("GNU", NT_GNU_BUILD_ID, std::string(20, 'b')).substr(0, 36));
  return bytes;
}

}  // namespace
}  // namespace wf::sampler

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wf;  // NOLINT(google-build-using-namespace)
  sampler::ImageMemory memory({reinterpret_cast<const char*>(data), size});
  for (const bool in_file : {false, true}) {
    WF_CHECK(sampler::BuildIdAt(memory, sampler::kBase, in_file).size() <= 1 << 16);
  }
  if (auto image = cpython::ElfImage::At(memory, sampler::kBase)) {
    for (const char* const name : {"_PyRuntime", "Py_Version", "PyCode_Type", ""}) (void)image->Find(name);
  }
  const cpython::Module modules[] = {{sampler::kBase, "/usr/bin/python3.12"}, {0, ""}, {~uint64_t{0}, "python3."}};
  (void)cpython::FindRuntime(memory, modules);
  WF_CHECK(memory.reads < 200'000);
  return 0;
}

std::vector<std::string> wf::base::FuzzerSeeds() {
  return {sampler::Library(true), sampler::Library(false), sampler::Program("right")};
}
