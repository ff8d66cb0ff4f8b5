#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sampler/process_memory.h"

namespace wf::sampler {
namespace {

constexpr size_t kMostSegments = 1024;  // IOV_MAX

}  // namespace

void ProcessMemory::Read(std::span<cpython::Segment> segments) {
  for (size_t done = 0; done < segments.size();) {
    done += ReadSome(segments.subspan(done, std::min(kMostSegments, segments.size() - done)));
  }
}

// Reads up to the first segment that cannot be read, which counts as done too. At least one.
size_t ProcessMemory::ReadSome(std::span<cpython::Segment> segments) {
  // 32 KiB that need no clearing at each call.
  static thread_local std::array<iovec, kMostSegments> ours;
  static thread_local std::array<iovec, kMostSegments> theirs;
  for (size_t i = 0; i < segments.size(); ++i) {
    segments[i].ok = false;
    ours[i] = {segments[i].into, segments[i].bytes};
    // An address of the other process: never followed here.
    theirs[i] = {reinterpret_cast<void*>(segments[i].address), segments[i].bytes};  // NOLINT(performance-no-int-to-ptr)
  }
  ++calls_;
  const ssize_t got = process_vm_readv(pid_, ours.data(), segments.size(), theirs.data(), segments.size(), 0);
  last_error_ = got < 0 ? errno : 0;
  size_t left = got < 0 ? 0 : static_cast<size_t>(got);
  for (size_t i = 0; i < segments.size(); ++i) {
    if (left < segments[i].bytes) return i + 1;
    left -= segments[i].bytes;
    segments[i].ok = true;
  }
  return segments.size();
}

}  // namespace wf::sampler
