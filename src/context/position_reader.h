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
// attempt is better than a wrong one. The page is looked for until it is there, whenever the process maps something: to
// look takes as long as it has mappings, so that at most a thousandth of the time goes there. A process that has none
// costs nothing else.
//
// Threading: one thread at a time.
#ifndef WF_CONTEXT_POSITION_READER_H_
#define WF_CONTEXT_POSITION_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
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
  // What the task of a found entry is called, as the process says: any bytes. Empty: not known. Costs a system call the
  // first time for each name.
  const std::string& NameOf(const ThreadEntry& entry);
  // The process executes another program, or began to: the page may come any moment.
  void LookSoon();
  // Why the page that it has cannot be read; OK: it can, or there is none.
  const Status& why_not() const { return why_not_; }
  // Whether any thread works for an attempt that the costly probes look at, as of Before.
  bool AnySampled() const { return any_sampled_; }

 private:
  bool FindPage(int64_t time_ns);

  const int32_t pid_;
  std::optional<PageAddress> page_;
  int64_t next_look_ns_ = 0;
  int64_t due_ns_ = 0;
  uint64_t looked_at_pages_ = 0;                     // MappedPages at the last look
  base::Fd memory_;                                  // for MappedPages
  std::unordered_map<uint32_t, std::string> names_;  // of page_
  std::vector<std::byte> scratch_;
  std::unordered_map<int32_t, ThreadEntry> before_;
  std::unordered_map<int32_t, ThreadEntry> sure_;
  bool any_sampled_ = false;
  Status why_not_;
};

}  // namespace wf::context

#endif  // WF_CONTEXT_POSITION_READER_H_
