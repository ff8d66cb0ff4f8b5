#include "store/stack_file.h"

#include <algorithm>
#include <utility>

#include "base/redact.h"
#include "profile/export_text.h"

namespace wf::store {
namespace {

using profile::StackSample;

// As for series: rewriting an open chunk costs its whole size.
constexpr size_t kOpenChunkRows = 4'096;
// Texts, frames and nodes are numbered over all processes of a run, and a sample names its thread.
constexpr int64_t kNoProcess = 0;

// "--password x" is a secret only word by word; "token=x" only as text.
std::string RedactedCommand(const std::string& command) {
  std::vector<std::string> words(1);
  for (const char c : command) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::string redacted;
  for (const std::string& word : base::RedactArgv(words)) redacted += word + ' ';
  redacted.pop_back();
  return base::RedactText(redacted);
}

std::vector<Column> FrameColumns(const profile::Frame* begin, const profile::Frame* end) {
  std::vector<Column> columns(6);
  for (const profile::Frame* frame = begin; frame != end; ++frame) {
    const int64_t values[] = {static_cast<int64_t>(frame->kind),
                              frame->name,
                              frame->qualified_name,
                              frame->file,
                              frame->first_line,
                              frame->line};
    for (size_t i = 0; i < columns.size(); ++i) columns[i].ints.push_back(values[i]);
  }
  return columns;
}

std::vector<Column> NodeColumns(const profile::StackNode* begin, const profile::StackNode* end) {
  std::vector<Column> columns(2);
  columns[0].encoding = Encoding::kDelta;
  for (const profile::StackNode* node = begin; node != end; ++node) {
    columns[0].ints.push_back(node->parent);
    columns[1].ints.push_back(node->frame);
  }
  return columns;
}

}  // namespace

Status StackFileWriter::Prepare(Database& database) {
  const std::pair<Statement*, std::string_view> wanted[] = {
      {&put_text_, "INSERT OR REPLACE INTO stack_texts VALUES(?,?)"},
      {&put_thread_, "INSERT OR REPLACE INTO stack_threads VALUES(?,?,?,?,?,?)"},
      {&put_meta_, "INSERT OR REPLACE INTO stack_meta VALUES(1,?)"},
      {&put_chunk_,
       "INSERT OR REPLACE INTO chunks(id, kind, process, first_ns, last_ns, row_count, data) VALUES(?,?,?,?,?,?,?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    Result<Statement> prepared = database.Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    *statement = *std::move(prepared);
  }
  return {};
}

Status StackFileWriter::PutChunk(ChunkKind kind, int64_t first, int64_t last, const std::vector<Column>& columns,
                                 int64_t& id, const Database& database) {
  const std::string data = EncodeChunk(columns);
  if (id == 0) {
    put_chunk_.BindNull(1);
  } else {
    put_chunk_.Bind(1, id);
  }
  put_chunk_.Bind(2, static_cast<int64_t>(kind)).Bind(3, kNoProcess).Bind(4, first).Bind(5, last);
  put_chunk_.Bind(6, static_cast<int64_t>(columns.front().rows())).BindBlob(7, data);
  WF_RETURN_IF_ERROR(put_chunk_.Run());
  if (id == 0) id = database.LastInsertId();
  return {};
}

Status StackFileWriter::WriteTexts(const profile::StackDelta& delta) {
  for (const std::string& text : delta.strings) {
    WF_RETURN_IF_ERROR(put_text_.Bind(1, static_cast<int64_t>(next_.texts)).Bind(2, text).Run());
    ++next_.texts;
  }
  return {};
}

Status StackFileWriter::WriteThreads(const profile::StackDelta& delta) {
  for (const auto& [index, thread] : delta.threads) {
    put_thread_.Bind(1, index).Bind(2, thread.process).Bind(3, thread.tid).Bind(4, thread.first_ns);
    WF_RETURN_IF_ERROR(put_thread_.Bind(5, thread.last_ns).Bind(6, thread.name).Run());
  }
  return {};
}

// The two time columns of such a chunk hold the numbers of its first and last row instead.
Status StackFileWriter::WriteTables(const profile::StackDelta& delta, const Database& database) {
  const auto parts = [&](ChunkKind kind, const auto& rows, size_t& written, auto columns_of) -> Status {
    for (size_t begin = 0; begin < rows.size(); begin += kMaxChunkRows) {
      const size_t count = std::min(kMaxChunkRows, rows.size() - begin);
      const auto first = static_cast<int64_t>(written);
      int64_t id = 0;
      WF_RETURN_IF_ERROR(PutChunk(kind, first, first + static_cast<int64_t>(count) - 1,
                                  columns_of(rows.data() + begin, rows.data() + begin + count), id, database));
      written += count;
    }
    return {};
  };
  WF_RETURN_IF_ERROR(parts(ChunkKind::kStackFrames, delta.frames, next_.frames, &FrameColumns));
  return parts(ChunkKind::kStackNodes, delta.nodes, next_.nodes, &NodeColumns);
}

Status StackFileWriter::WriteOpenChunk(const Database& database) {
  if (next_.open.empty()) return {};
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  for (const StackSample& sample : next_.open) {
    first_ns = std::min(first_ns, sample.time_ns);
    last_ns = std::max(last_ns, sample.time_ns + sample.span_ns);
  }
  return PutChunk(ChunkKind::kStacks, first_ns, last_ns, SampleColumns(next_.open), next_.chunk_id, database);
}

Status StackFileWriter::WriteSamples(const profile::StackDelta& delta, const Database& database) {
  if (delta.samples.empty()) return {};
  for (const StackSample& sample : delta.samples) {
    const auto last = next_.last_of_thread.find(sample.thread);
    if (last != next_.last_of_thread.end() && profile::Continues(next_.open[last->second], sample)) {
      profile::Extend(next_.open[last->second], sample);
      continue;
    }
    if (next_.open.size() == kOpenChunkRows) {
      WF_RETURN_IF_ERROR(WriteOpenChunk(database));
      next_.open.clear();
      next_.last_of_thread.clear();
      next_.chunk_id = 0;
    }
    next_.last_of_thread[sample.thread] = next_.open.size();
    next_.open.push_back(sample);
  }
  return WriteOpenChunk(database);
}

Status StackFileWriter::Write(const profile::StackDelta& delta, const Database& database) {
  next_ = state_;
  WF_RETURN_IF_ERROR(WriteTexts(delta));
  WF_RETURN_IF_ERROR(WriteThreads(delta));
  WF_RETURN_IF_ERROR(WriteTables(delta, database));
  WF_RETURN_IF_ERROR(WriteSamples(delta, database));
  profile::StackMeta meta = delta.meta;
  meta.command = RedactedCommand(meta.command);
  const std::string json = profile::MetaJson(meta);
  return put_meta_.Bind(1, json).Run();
}

}  // namespace wf::store
