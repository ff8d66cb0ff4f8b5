// RunFileWriter: writes log lines, series and stacks of one run into runs/<id>.db, which it makes at the first row.
//
// Series wait in an open chunk per process, which is written anew at each flush until it is full: what was put a second
// ago is on disk, and a long run still has few chunks.
//
// Threading: one thread at a time. Failure: as RunsDbWriter.
#ifndef WF_STORE_RUN_FILE_H_
#define WF_STORE_RUN_FILE_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/model.h"
#include "store/batch.h"
#include "store/sqlite.h"
#include "store/stack_file.h"

namespace wf::store {

using SeriesByName = std::map<std::string, std::vector<profile::SeriesPoint>>;

class RunFileWriter {
 public:
  explicit RunFileWriter(std::filesystem::path path) : path_(std::move(path)) {}

  // Writes the logs, series and stacks of `batch`; `names[row.name]` is the name of a series.
  Status Write(const Batch& batch, const std::vector<std::string>& names);

 private:
  // Rows of one process that lie in a chunk which is not full yet.
  struct OpenChunk {
    int64_t chunk_id = 0;  // 0: not written yet
    std::vector<SeriesRow> rows;
  };
  Status Open();
  Status WriteLogs(const RowList<profile::LogLine>& logs);
  Status WriteNames(const std::vector<std::string>& names);
  Status WriteSeries(std::map<uint32_t, OpenChunk>& open);
  Status WriteChunk(uint32_t process, OpenChunk& open);

  std::filesystem::path path_;
  std::optional<Database> database_;
  Statement put_log_, put_name_, put_chunk_;
  StackFileWriter stacks_;
  size_t names_written_ = 0;
  std::map<uint32_t, OpenChunk> open_;
};

// All series of a run's file, each by time. Chunks that are damaged are left out and named in `*damage` (the first
// one).
Result<SeriesByName> ReadSeries(Database& database, Status* damage);

}  // namespace wf::store

#endif  // WF_STORE_RUN_FILE_H_
