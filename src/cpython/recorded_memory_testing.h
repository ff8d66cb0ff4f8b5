// Recorded memory: what a decoding read from a live process, kept in a file, so that tests need no process.
//
//   WFMEMORY1\n
//   module <base, hexadecimal> <path>\n      as the memory map had them, any number
//   end\n
//   then pieces until the end of the file: address (8 bytes), size (8 bytes), bytes
//
// Made by tools/record_cpython_memory; for tests only, so files are not taken for hostile.
#ifndef WF_CPYTHON_RECORDED_MEMORY_TESTING_H_
#define WF_CPYTHON_RECORDED_MEMORY_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cpython/memory_reader.h"
#include "cpython/runtime.h"
#include "cpython/stack_reader.h"
#include "cpython/thread_names.h"

namespace wf::cpython {

// By address; pieces neither touch nor overlap.
using Pieces = std::map<uint64_t, std::vector<std::byte>>;

// Passes reads on and keeps what came back. Reads over 32 KiB are not kept: only the search for the version makes them.
class RecordingReader final : public MemoryReader {
 public:
  explicit RecordingReader(MemoryReader& from) : from_(from) {}

  void Read(std::span<Segment> segments) override {
    from_.Read(segments);
    for (const Segment& s : segments) {
      if (!s.ok || s.bytes == 0 || s.bytes > 32 << 10) continue;
      const auto* bytes = static_cast<const std::byte*>(s.into);
      for (size_t i = 0; i < s.bytes; ++i) bytes_[s.address + i] = bytes[i];
    }
  }

  void Save(const std::string& path, const std::vector<Module>& modules) const {
    std::ofstream file(path, std::ios::binary);
    file << "WFMEMORY1\n";
    for (const Module& module : modules) file << "module " << std::hex << module.base << ' ' << module.path << '\n';
    file << "end\n";
    for (auto at = bytes_.begin(); at != bytes_.end();) {
      auto end = at;
      std::string text;
      for (uint64_t next = at->first; end != bytes_.end() && end->first == next; ++end, ++next) {
        text.push_back(static_cast<char>(end->second));
      }
      const uint64_t head[] = {at->first, text.size()};
      file.write(reinterpret_cast<const char*>(head), sizeof(head));
      file << text;
      at = end;
    }
  }

 private:
  MemoryReader& from_;
  std::map<uint64_t, std::byte> bytes_;
};

class RecordedMemory final : public MemoryReader {
 public:
  static RecordedMemory Load(const std::string& path) {
    RecordedMemory memory;
    std::ifstream file(path, std::ios::binary);
    std::string line;
    while (std::getline(file, line) && line != "end") {
      std::istringstream words(line);
      std::string word;
      Module module;
      words >> word >> std::hex >> module.base >> module.path;
      if (word == "module") memory.modules.push_back(module);
    }
    uint64_t head[2] = {};
    while (file.read(reinterpret_cast<char*>(head), sizeof(head))) {
      std::vector<std::byte>& piece = memory.pieces[head[0]];
      piece.resize(head[1]);
      file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    }
    return memory;
  }

  void Read(std::span<Segment> segments) override {
    for (Segment& s : segments) {
      ++reads;
      const auto after = pieces.upper_bound(s.address);
      s.ok = s.bytes == 0;
      if (s.ok || after == pieces.begin()) continue;
      const auto& [begin, bytes] = *std::prev(after);
      if (s.address - begin > bytes.size() || s.bytes > bytes.size() - (s.address - begin)) continue;
      std::memcpy(s.into, bytes.data() + (s.address - begin), s.bytes);
      s.ok = true;
    }
  }

  std::vector<Module> modules;
  Pieces pieces;
  uint64_t reads = 0;
};

// "thread <name>\n" and "  <function> <line>\n" for each frame, leaf first; threads by name. What the program of the
// fixtures prints about itself has the same form.
inline std::string Describe(const Sample& sample, const ThreadNames& names) {
  std::vector<std::string> threads;
  for (const ThreadStack& thread : sample.threads) {
    std::string text = "thread " + names.Of(thread) + "\n";
    for (const Frame& frame : thread.frames) {
      text += "  " + (frame.code == nullptr ? "?" : frame.code->name) + " " + std::to_string(frame.line) + "\n";
    }
    threads.push_back(std::move(text));
  }
  std::sort(threads.begin(), threads.end());
  std::string all;
  for (const std::string& thread : threads) all += thread;
  return all;
}

}  // namespace wf::cpython

#endif  // WF_CPYTHON_RECORDED_MEMORY_TESTING_H_
