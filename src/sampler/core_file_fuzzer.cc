// Core files from raw bytes, and the notes in them: what they tell is read within bounds, and what is no core file is
// refused with a sentence.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "base/fd.h"
#include "base/fuzzer_testing.h"
#include "sampler/core_file.h"
#include "sampler/core_file_testing.h"

namespace wf::sampler {
namespace {

constexpr size_t kMostLooks = 64;

void ReadAround(CoreFile& core, uint64_t address) {
  std::array<char, 96> bytes{};
  for (const uint64_t from : {address, address - 8, UINT64_MAX - 7})
    (void)core.ReadOne(from, bytes.data(), bytes.size());
}

void Look(CoreFile& core) {
  WF_CHECK(!core.notes().threads.empty());
  for (const CoreMapping& mapping : core.notes().files) WF_CHECK(mapping.begin < mapping.end);
  const auto modules = core.Modules();
  for (size_t i = 0; i < std::min(modules.size(), kMostLooks); ++i) ReadAround(core, modules[i].base);
  const auto mappings = core.Mappings();
  WF_CHECK(std::is_sorted(mappings.begin(), mappings.end(), [](auto& a, auto& b) { return a.begin < b.begin; }));
  for (size_t i = 0; i < std::min(mappings.size(), kMostLooks); ++i) {
    ReadAround(core, mappings[i].begin);
    ReadAround(core, mappings[i].end);
    (void)core.OpenFile(mappings[i]);
  }
  (void)cpython::FindRuntime(core, modules);
  for (const std::string& sentence : core.missing()) WF_CHECK(!sentence.empty());
}

void OpenBytes(const base::FuzzerInput& input) {
  const base::Fd file(memfd_create("core", MFD_CLOEXEC));
  const std::string_view bytes = input.rest();
  WF_CHECK(file.valid() && write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const auto core = CoreFile::Open("/proc/self/fd/" + std::to_string(file.get()), "");
  if (core.ok()) {
    Look(**core);
  } else {
    WF_CHECK(!core.status().message().empty());
  }
}

}  // namespace
}  // namespace wf::sampler

// kind (1 byte): a whole file, or the bytes of a segment of notes
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wf::base::FuzzerInput input(data, size);
  if (input.Take<uint8_t>() % 2 == 0) {
    wf::sampler::OpenBytes(input);
  } else {
    wf::sampler::CoreNotes notes;
    wf::sampler::AddNotes(std::as_bytes(std::span(input.rest())), &notes);
    for (const auto& mapping : notes.files) WF_CHECK(mapping.begin < mapping.end);
  }
  return 0;
}

std::vector<std::string> wf::base::FuzzerSeeds() {
  using namespace wf::sampler;  // NOLINT(google-build-using-namespace)
  const std::string page = Program("right").substr(0, kPage);
  const std::string notes = AllNotes({"/bin/true"});
  const std::string whole = Core(notes, page);
  std::string many_headers = whole;
  const uint16_t many = PN_XNUM;
  many_headers.replace(offsetof(Elf64_Ehdr, e_phnum), sizeof(many), FuzzerBytes(many));
  return {'\0' + whole,
          '\0' + many_headers,
          '\0' + whole.substr(0, 300),
          '\0' + Program("right"),
          "\1" + notes,
          "\1" + ThreadNote(1, 11, 0),
          "\1" + FilesNote({"/bin/true"}),
          '\0' + Core(ThreadNote(1, 0, 0) + FilesNote({"[vdso]"}), page)};
}
