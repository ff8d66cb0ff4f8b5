// PageReader: the sampler's side of the context page: finds it in another process and decodes a copy of it.
//
// The bytes are another process's memory, so they are hostile: every size is checked before it is used.
#ifndef WF_CONTEXT_PAGE_READER_H_
#define WF_CONTEXT_PAGE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/run_id.h"
#include "wf/status.h"

namespace wf::context {

struct ThreadEntry {
  int32_t tid = 0;  // as the process sees itself: in its own PID namespace
  base::RunId run;
  uint64_t attempt = 0;
  uint64_t node = 0;
  uint64_t task = 0;
  bool sampled = false;   // the costly probes look at this attempt
  uint32_t name = 0;      // of the task, for ReadName; 0: not known
  uint32_t sequence = 0;  // of the slot: two copies with the same one say that nothing was written between them
};

struct Snapshot {
  int32_t pid = 0;
  uint32_t generation = 0;
  uint32_t overflowed = 0;           // threads that are not on the page
  std::vector<ThreadEntry> threads;  // those that work for an attempt
  std::vector<int32_t> torn;         // were just being written: take another copy, or leave them without an attempt
};

// kDataLoss when the bytes are no page of a version that we know.
Result<Snapshot> DecodePage(std::span<const std::byte> bytes);

// Where the page lies in a process.
struct PageAddress {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// From the text of /proc/<pid>/maps. kNotFound when the process has no page (it runs no Workflow, or has no task yet).
Result<PageAddress> FindPage(std::string_view maps);

// Finds the page of process `pid`. Errors: kNotFound; kPermissionDenied when we may not look into the process.
Result<PageAddress> FindPageOf(int32_t pid);

// Pages of memory that the process has mapped, of whatever kind: a new mapping changes it. 0: that cannot be told.
// `file` keeps what was opened: give the same one for the same process. Costs a microsecond.
uint64_t MappedPages(int32_t pid, base::Fd* file);

// Copies the page at `at` (only the slots in use) with process_vm_readv and decodes it. `scratch` keeps the memory from
// one call to the next, and with it how many slots there were: give the same one for the same page.
Result<Snapshot> ReadPage(int32_t pid, const PageAddress& at, std::vector<std::byte>* scratch);

// The text of a name on the page at `at`, as it was given: any bytes. kNotFound when there is no such name; those of
// ReadPage. It never changes while the process executes the same program.
Result<std::string> ReadName(int32_t pid, const PageAddress& at, uint32_t name);

}  // namespace wf::context

#endif  // WF_CONTEXT_PAGE_READER_H_
