// ProcessMemory: the memory of a running process, by process_vm_readv: without stopping it and without its help.
#ifndef WF_SAMPLER_PROCESS_MEMORY_H_
#define WF_SAMPLER_PROCESS_MEMORY_H_

#include <cstdint>
#include <span>

#include "cpython/memory_reader.h"

namespace wf::sampler {

// Use from one thread at a time.
class ProcessMemory final : public cpython::MemoryReader {
 public:
  explicit ProcessMemory(int32_t pid) : pid_(pid) {}

  // One system call per 1,024 segments, and one more for each segment that cannot be read.
  void Read(std::span<cpython::Segment> segments) override;

  // errno of the last call that read nothing; 0 when the last call read something. ESRCH: the process ended; EPERM: it
  // must not be read; EFAULT: nothing lies there.
  int last_error() const { return last_error_; }
  uint64_t calls() const { return calls_; }

 private:
  size_t ReadSome(std::span<cpython::Segment> segments);

  const int32_t pid_;
  int last_error_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace wf::sampler

#endif  // WF_SAMPLER_PROCESS_MEMORY_H_
