// CoreFile: a process as it was when its memory was written to a file, by the kernel or by gdb's gcore.
//
//   Result<std::unique_ptr<CoreFile>> core = CoreFile::Open("core.4711", "");
//   if (!core.ok()) return core.status();
//   cpython::FindRuntime(**core, (*core)->Modules());
//
// Such a file lacks what can be had from the files that were mapped: code, and tables that nobody wrote to. Those parts
// are read from the files, as long as these have the build id that the core file tells.
//
// Threading: one thread at a time.
#ifndef WF_SAMPLER_CORE_FILE_H_
#define WF_SAMPLER_CORE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "cpython/memory_reader.h"
#include "cpython/runtime.h"
#include "native/address_space.h"
#include "sampler/core_notes.h"
#include "wf/status.h"

namespace wf::sampler {

class CoreFile final : public cpython::MemoryReader {
 public:
  // `executable`: to be read instead of the program that the core file names; empty: that one. kNotFound and kIo: the
  // file cannot be read; kInvalidArgument: it is no core file of x86-64 Linux; kDataLoss: it ends before its notes.
  static Result<std::unique_ptr<CoreFile>> Open(const std::string& path, const std::string& executable);

  void Read(std::span<cpython::Segment> segments) override;

  const CoreNotes& notes() const { return notes_; }
  // The programs and libraries, the executable first.
  std::vector<cpython::Module> Modules() const;
  std::vector<native::Mapping> Mappings() const;
  // The file of one of these mappings.
  base::Fd OpenFile(const native::Mapping& mapping);

  // Of the program, as the core file names it; empty: it does not.
  const std::string& executable() const { return executable_; }
  // A sentence for each file that was asked for and is not here, or is another one; and for a core file that was cut
  // short. As far as it is known by now.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Load {
    uint64_t begin = 0;
    uint64_t bytes = 0;          // in memory
    uint64_t offset = 0;         // in the core file
    uint64_t bytes_in_file = 0;  // of these, what lies there; the rest is elsewhere
    bool is_code = false;
  };
  CoreFile(base::Fd file, uint64_t bytes) : file_(std::move(file)), bytes_(bytes) {}

  Status ReadHeaders(const std::string& path);
  void FindExecutable(const std::string& instead);
  bool ReadRange(uint64_t address, std::byte* into, size_t bytes);
  size_t ReadPart(uint64_t address, std::byte* into, size_t bytes);
  size_t ReadMapped(uint64_t address, std::byte* into, size_t bytes);
  const Load* LoadAt(uint64_t address) const;
  const CoreMapping* MappingAt(uint64_t address) const;
  int FileOf(const std::string& path);
  std::string BuildIdInMemory(const std::string& path);

  base::Fd file_;
  const uint64_t bytes_;
  std::vector<Load> loads_;  // by begin
  CoreNotes notes_;
  std::string executable_;
  std::string instead_;
  std::map<std::string_view, uint64_t> begins_;  // by path: where its beginning is mapped first; of notes_
  std::map<std::string, base::Fd> files_;        // by the path that the core file names
  bool is_checking_ = false;                     // whether a file is the right one: by the core file alone
  std::vector<std::string> missing_;
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_CORE_FILE_H_
