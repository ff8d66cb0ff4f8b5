// Line tables of every format from raw bytes: any bytes give a line that can be, or none.
#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "cpython/line_table.h"

// minor (1 byte), first line (4), offset (8), table
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wf::base::FuzzerInput input(data, size);
  const uint32_t minor = 8 + input.Take<uint8_t>() % 8;
  const auto first_line = input.Take<int32_t>();
  const auto offset = input.Take<int64_t>();
  const auto table = std::as_bytes(std::span(input.rest()));
  for (const int64_t at : {offset, offset % 65536, int64_t{0}, int64_t{2}, INT64_MAX}) {
    const auto line = wf::cpython::LineAt(table, minor, first_line, at);
    WF_CHECK(!line || *line >= 0);
  }
  return 0;
}

std::vector<std::string> wf::base::FuzzerSeeds() {
  const std::string tables[] = {
      std::string("\x06\x01\x08\xFF\xFF\x00\x02\x7F", 8),              // co_lnotab
      std::string("\x06\x01\x08\x80\x02\xFE", 6),                      // co_linetable of 3.10
      std::string("\x80\x00\xD8\x04\x0C\xE8\x41\x02\xF0\x03\x00", 11)  // locations
  };
  std::vector<std::string> seeds;
  for (int minor = 0; minor < 8; ++minor) {
    for (const std::string& table : tables) {
      seeds.push_back(std::string(1, static_cast<char>(minor)) + FuzzerBytes(int32_t{100}) + FuzzerBytes(int64_t{10}) +
                      table);
    }
  }
  return seeds;
}
