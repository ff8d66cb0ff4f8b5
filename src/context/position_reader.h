// PositionReader: which attempt each thread of another process works for, from before to after something else of it was
// read.
//
//   PositionReader positions(pid);
//   positions.Before(now_ns);
//   target.Read(&snapshot);           // the threads run on meanwhile
//   positions.After();
//   if (const ThreadEntry* entry = positions.Find(tid)) … entry->attempt …
//
// A thread that came to another attempt between the two copies, or whose place was just being written, is not found: no
// attempt is better than a wrong one. The page is looked for until it is there, less and less often.
//
// Threading: one thread at a time.
#ifndef WF_CONTEXT_POSITION_READER_H_
#define WF_CONTEXT_POSITION_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "context/page_reader.h"

namespace wf::context {

class PositionReader {
 public:
  explicit PositionReader(int32_t pid) : pid_(pid) {}

  // REQUIRES: the time does not go back.
  void Before(int64_t time_ns);
  void After();
  // By its number in the process's own PID namespace. nullptr: it works for no attempt, or that is not certain.
  const ThreadEntry* Find(int32_t tid) const;
  // Whether any thread works for an attempt that the costly probes look at, as of Before.
  bool AnySampled() const { return any_sampled_; }

 private:
  bool FindPage(int64_t time_ns);

  const int32_t pid_;
  std::optional<PageAddress> page_;
  int64_t next_look_ns_ = 0;
  int64_t pause_ns_ = 0;
  std::vector<std::byte> scratch_;
  std::unordered_map<int32_t, ThreadEntry> before_;
  std::unordered_map<int32_t, ThreadEntry> sure_;
  bool any_sampled_ = false;
};

}  // namespace wf::context

#endif  // WF_CONTEXT_POSITION_READER_H_
