// The recorded stacks in runs/<id>.db. Bytes: docs/formats/store.md, "Stacks".
//
// Texts and threads are rows, frames and the tree of stacks are chunks that are only ever added. Samples lie in chunks
// sorted by thread and time, so that nearly every number in them is small or the same as the one above: what does not
// change costs next to nothing. The newest chunk is written anew at each flush until it is full, and a sample in it
// that goes on is made longer instead of followed by another.
#ifndef WF_STORE_STACK_FILE_H_
#define WF_STORE_STACK_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profile/stack_recorder.h"
#include "store/chunk.h"
#include "store/sqlite.h"

namespace wf::store {

// Threading: one thread at a time. Write runs inside of the caller's transaction; what it remembers changes only with
// Committed, so that a piece that could not be written can be given again.
class StackFileWriter {
 public:
  Status Prepare(Database& database);
  Status Write(const profile::StackDelta& delta, const Database& database);
  void Committed() { state_ = std::move(next_); }

 private:
  struct State {
    size_t texts = 0;  // written so far
    size_t frames = 0;
    size_t nodes = 0;
    int64_t chunk_id = 0;  // of the open chunk; 0: not written yet
    std::vector<profile::StackSample> open;
    std::map<uint32_t, size_t> last_of_thread;  // index in `open`
  };
  Status WriteTexts(const profile::StackDelta& delta);
  Status WriteThreads(const profile::StackDelta& delta);
  Status WriteTables(const profile::StackDelta& delta, const Database& database);
  Status WriteSamples(const profile::StackDelta& delta, const Database& database);
  Status WriteOpenChunk(const Database& database);
  // Adds a chunk, or replaces the one with this id; sets the id.
  Status PutChunk(ChunkKind kind, int64_t first, int64_t last, const std::vector<Column>& columns, int64_t& id,
                  const Database& database);

  Statement put_text_, put_thread_, put_meta_, put_chunk_;
  State state_, next_;
};

// All of a run's stacks without its processes; nullopt when none were recorded. Chunks that are damaged are left out
// and named in `*damage` (the first one).
Result<std::optional<profile::StackProfile>> ReadStacks(Database& database, Status* damage);

// Between samples and columns; for tests of their size.
std::vector<Column> SampleColumns(std::vector<profile::StackSample> samples);
Result<std::vector<profile::StackSample>> SamplesOf(const std::vector<Column>& columns);

}  // namespace wf::store

#endif  // WF_STORE_STACK_FILE_H_
