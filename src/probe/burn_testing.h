// Known work for the tests: CPU by the clock of the thread that burns it, memory that is really touched.
#ifndef WF_PROBE_BURN_TESTING_H_
#define WF_PROBE_BURN_TESTING_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace wf::probe {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kMiB = 1 << 20;

// The thread sanitizer keeps shadow memory for each byte that is touched, which counts as resident.
#ifdef __SANITIZE_THREAD__
inline constexpr int64_t kMostResidentPerByte = 6;
#else
inline constexpr int64_t kMostResidentPerByte = 1;
#endif

inline void BurnCpu(int64_t cpu_ns) {
  const int64_t until = base::ThreadCpuNs() + cpu_ns;
  while (base::ThreadCpuNs() < until) {
  }
}

// Maps, touches and unmaps, so that resident memory rises and falls by `bytes`.
inline void SpikeMemory(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  auto* memory = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return;
  for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
  munmap(memory, size);
}

}  // namespace wf::probe

#endif  // WF_PROBE_BURN_TESTING_H_
