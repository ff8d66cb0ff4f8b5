// A run's recorded stacks as a damaged or foreign file may hold them: rows and chunks from raw bytes, whole chunks with
// hostile numbers, and good ones with spoilt bytes. What is read is consistent in itself, and what is not read is told.
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "store/chunk.h"
#include "store/run_file.h"
#include "store/stack_file.h"

namespace wf::store {
namespace {

constexpr size_t kMostRows = 64;

// In a file that nobody else sees: it is deleted as soon as it is open.
Database Open() {
  std::string folder = std::filesystem::temp_directory_path() / "wf-stacks-fuzzer-XXXXXX";
  WF_CHECK(mkdtemp(folder.data()) != nullptr);
  Result<Database> opened = Database::Open(folder + "/run.db", Database::Mode::kCreate);
  WF_CHECK(opened.ok());
  WF_CHECK(opened
               ->Exec("CREATE TABLE chunks(kind, first_ns, row_count, data); CREATE TABLE stack_texts(id, text);"
                      "CREATE TABLE stack_threads(id, process, tid, first_ns, last_ns, name);"
                      "CREATE TABLE stack_meta(meta)")
               .ok());
  std::filesystem::remove_all(folder);
  return *std::move(opened);
}

Database& Records() {
  static Database database = Open();
  return database;
}

int64_t TakeNumber(base::FuzzerInput& input) {
  const auto value = input.Take<int8_t>();
  return value == INT8_MIN ? input.Take<int64_t>() : value;
}

Statement Prepare(std::string_view sql) {
  Result<Statement> statement = Records().Prepare(sql);
  WF_CHECK(statement.ok());
  return *std::move(statement);
}

std::string TakeChunk(base::FuzzerInput& input) {
  const auto how = input.Take<uint8_t>();
  if (how % 4 == 0) return std::string(input.TakeBytes(input.Take<uint8_t>()));
  std::vector<Column> columns(input.Take<uint8_t>() % 10);
  const size_t rows = input.Take<uint8_t>() % kMostRows;
  for (Column& column : columns) {
    column.encoding = static_cast<Encoding>(1 + input.Take<uint8_t>() % 4);
    for (size_t row = 0; row < rows; ++row) {
      const int64_t value = TakeNumber(input);
      if (column.encoding == Encoding::kDouble) column.doubles.push_back(static_cast<double>(value));
      if (column.encoding != Encoding::kDouble) column.ints.push_back(value);
    }
  }
  std::string chunk = EncodeChunk(columns);
  const auto decoded = DecodeChunk(chunk);
  WF_CHECK(decoded.ok() && decoded->size() == columns.size());
  for (size_t i = 0; i < columns.size(); ++i) WF_CHECK((*decoded)[i].ints == columns[i].ints);
  if (how % 4 == 1 && !chunk.empty()) chunk[input.Take<uint16_t>() % chunk.size()] ^= static_cast<char>(how | 1);
  return chunk;
}

void AddRow(base::FuzzerInput& input) {
  switch (input.Take<uint8_t>() % 4) {
    case 0: {
      auto put = Prepare("INSERT INTO stack_texts VALUES(?,?)");
      const int64_t id = TakeNumber(input);
      WF_CHECK(put.Bind(1, id).Bind(2, input.TakeBytes(input.Take<uint8_t>())).Run().ok());
      break;
    }
    case 1: {
      auto put = Prepare("INSERT INTO stack_threads VALUES(?,?,?,?,?,?)");
      for (int i = 1; i <= 5; ++i) put.Bind(i, TakeNumber(input));
      WF_CHECK(put.Bind(6, input.TakeBytes(input.Take<uint8_t>() % 32)).Run().ok());
      break;
    }
    case 2: {
      auto put = Prepare("INSERT INTO stack_meta VALUES(?)");
      WF_CHECK(put.Bind(1, input.TakeBytes(input.Take<uint8_t>())).Run().ok());
      break;
    }
    default: {
      static constexpr ChunkKind kKinds[] = {ChunkKind::kStacks, ChunkKind::kStackFrames, ChunkKind::kStackNodes};
      auto put = Prepare("INSERT INTO chunks VALUES(?,?,?,?)");
      put.Bind(1, static_cast<int64_t>(kKinds[input.Take<uint8_t>() % 3]));
      put.Bind(2, TakeNumber(input)).Bind(3, TakeNumber(input));
      const std::string chunk = TakeChunk(input);
      WF_CHECK(put.BindBlob(4, chunk).Run().ok());
    }
  }
}

void Check(const profile::StackProfile& profile) {
  const profile::StackTable& table = profile.table;
  for (uint32_t i = 1; i < table.node_count(); ++i) {
    WF_CHECK(table.node(i).parent < i && table.node(i).frame < table.frame_count());
  }
  for (uint32_t i = 0; i < table.frame_count(); ++i) {
    const profile::Frame& frame = table.frame(i);
    WF_CHECK(frame.name < table.string_count() && frame.file < table.string_count());
    WF_CHECK(frame.qualified_name < table.string_count());
  }
  for (const profile::StackSample& sample : profile.samples) {
    WF_CHECK(sample.thread < profile.threads.size() && sample.stack < table.node_count());
    WF_CHECK(sample.span_ns >= 0 && sample.weight_ns >= 0 && sample.time_ns >= 0);
  }
  WF_CHECK(profile.total_weight_ns() >= 0);
}

}  // namespace
}  // namespace wf::store

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wf::store;  // NOLINT(google-build-using-namespace)
  Database& database = Records();
  WF_CHECK(database
               .Exec("DELETE FROM chunks; DELETE FROM stack_texts; DELETE FROM stack_threads; "
                     "DELETE FROM stack_meta")
               .ok());
  const auto raw = DecodeChunk({reinterpret_cast<const char*>(data), size});
  WF_CHECK(raw.ok() || !raw.status().message().empty());
  if (raw.ok()) (void)SamplesOf(*raw);
  wf::base::FuzzerInput input(data, size);
  for (size_t row = 0; row < kMostRows && !input.empty(); ++row) AddRow(input);
  wf::Status damage;
  const auto profile = ReadStacks(database, &damage);
  if (!profile.ok()) {
    WF_CHECK(!profile.status().message().empty());
  } else if (*profile) {
    Check(**profile);
  }
  return 0;
}

// A small recording: two texts, a thread, a frame, two nodes and two samples; and its pieces as they lie in chunks.
std::vector<std::string> wf::base::FuzzerSeeds() {
  const auto text = [](char id, const std::string& content) {
    return std::string{'\0', id, static_cast<char>(content.size())} + content;
  };
  const auto chunk = [](char kind, const std::vector<std::string>& columns) {
    std::string bytes = {'\3', kind, '\0', static_cast<char>(columns[0].size()), '\2'};
    bytes += {static_cast<char>(columns.size()), static_cast<char>(columns[0].size())};
    for (const std::string& column : columns) bytes += '\0' + column;
    return bytes;
  };
  const std::string zero(1, '\0');
  const std::string meta = R"({"mode":"wall","rate_hz":100,"samples":2,"rejected":{"torn":1},"command":"x"})";
  std::string seed = text(0, "") + text(1, "<not kept>") + text(2, "work") + text(3, "/a.py");
  seed += std::string{'\1', '\0', '\1', '\5', '\0', '\7', '\4'} + "Main";
  seed += std::string{'\2', static_cast<char>(meta.size())} + meta;
  seed += chunk(1, {zero + zero, "\1\2", zero + zero, zero + "\3", "\1\1", "\1\2"});
  seed += chunk(2, {zero + zero + zero, std::string("\0\0\1", 3)});
  seed += chunk(0, {zero + zero, "\5\1", "\3\3", zero + zero, "\1\2", "\1\1", "\1\2", zero + zero});
  using wf::store::Column;
  Column column;
  column.ints = {1, 2, 3};
  return {seed, wf::store::EncodeChunk(std::vector<Column>(8, column)), wf::store::EncodeChunk({column})};
}
