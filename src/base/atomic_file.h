// AtomicFile: a file that is there whole or not at all. Written under another name in the same folder, put in place by
// Commit; without Commit nothing changes and nothing is left behind.
//
//   Result<AtomicFile> file = AtomicFile::Create(path);   // says now, not after an hour, that it cannot be
//   Write(file->stream());
//   WF_RETURN_IF_ERROR(file->Commit());
//
// "-" is standard output; a device or pipe that exists is written to as it is. A symbolic link stays: its target is
// replaced. The mode of a file that is replaced is kept.
#ifndef WF_BASE_ATOMIC_FILE_H_
#define WF_BASE_ATOMIC_FILE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>

#include "wf/status.h"

namespace wf::base {

class AtomicFile {
 public:
  // Errors: kNotFound (no such folder), kInvalidArgument (a folder), kPermissionDenied, kIo.
  static Result<AtomicFile> Create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  // Buffered. Errors are kept until Commit.
  std::ostream& stream();
  // Once, last. kIo names the cause, such as a full disk; then the file is as it was before.
  Status Commit();
  uint64_t bytes() const;  // so far
  // False for standard output, a device or a pipe, which get each byte as it is written.
  bool is_put_in_place() const;

 private:
  class Output;
  explicit AtomicFile(std::unique_ptr<Output> output);
  std::unique_ptr<Output> output_;
};

}  // namespace wf::base

#endif  // WF_BASE_ATOMIC_FILE_H_
