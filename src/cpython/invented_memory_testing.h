// InventedMemory: a small world of Python objects that an input describes: nearly right ones of every kind that this
// room reads, with pointers to any other of them. For fuzzers: what a recording lacks, and what no interpreter makes.
//
//   limit (1 byte)     the world is there 2^(limit % 3) times, from 240 on 2^(limit % 13) times; a pointer may lead
//                      on to the next of them
//   then, per object   kind (1 byte), fields (16 bytes); at most 32 objects
//
// Each object begins kObject behind the beginning of a page. All words of its page are pointers, made of its fields in
// turn; then those are set that make it of its kind. A field that is a pointer: below 160 to an object of the same
// world, below 224 to one of the next world, and then to what is no object.
#ifndef WF_CPYTHON_INVENTED_MEMORY_TESTING_H_
#define WF_CPYTHON_INVENTED_MEMORY_TESTING_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/fuzzer_testing.h"
#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

class InventedMemory final : public MemoryReader {
 public:
  static constexpr uint64_t kBase = uint64_t{1} << 32;
  static constexpr uint64_t kTypes = uint64_t{1} << 24;
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kObject = 64;
  static constexpr size_t kMostObjects = 32;

  enum Kind : uint8_t {
    kInt,
    kStr,
    kBytes,
    kList,
    kTuple,
    kDict,
    kKeys,
    kSet,
    kGenerator,
    kFrame,
    kCode,
    kThread,
    kInterpreter,
    kInstance,
    kWrapper,
    kTask,
    kRuntime,
    kAnything,
    kKinds
  };

  InventedMemory(const Layout& layout, base::FuzzerInput* input) : layout_(layout) {
    const auto limit = input->Take<uint8_t>();
    worlds_ = uint64_t{1} << (limit < 240 ? limit % 3 : limit % 13);
    MakeTypes();
    std::vector<Description> described;
    while (!input->empty() && described.size() < kMostObjects) {
      Description& each = described.emplace_back();
      each.kind = static_cast<Kind>(input->Take<uint8_t>() % kKinds);
      for (uint8_t& field : each.fields) field = input->Take<uint8_t>();
    }
    if (described.empty()) described.emplace_back();
    objects_.resize(described.size());
    for (size_t i = 0; i < described.size(); ++i) Make(described[i], objects_[i]);
  }

  size_t objects() const { return objects_.size(); }
  uint64_t AddressOf(size_t object, uint64_t world = 0) const {
    return kBase + (world * objects_.size() + object) * kPage + kObject;
  }

  void Read(std::span<Segment> segments) override {
    for (Segment& segment : segments) {
      ++reads;
      bytes_read += segment.bytes;
      segment.ok = ReadRange(segment.address, static_cast<std::byte*>(segment.into), segment.bytes);
    }
  }

  uint64_t reads = 0;
  uint64_t bytes_read = 0;

 private:
  static constexpr size_t kWords = kPage / 8;
  static constexpr std::array<std::string_view, 16> kTypeNames = {"int",
                                                                  "str",
                                                                  "bytes",
                                                                  "list",
                                                                  "tuple",
                                                                  "dict",
                                                                  "set",
                                                                  "bool",
                                                                  "coroutine",
                                                                  "generator",
                                                                  "async_generator",
                                                                  "cell",
                                                                  "NoneType",
                                                                  "FutureIter",
                                                                  "_asyncio.Task",
                                                                  "coroutine_wrapper"};
  static constexpr std::array<std::string_view, 16> kTexts = {
      "asyncio.tasks", "_scheduled_tasks", "_all_tasks", "_eager_tasks", "data",      "_coro",   "_state", "PENDING",
      "_loop",         "_fut_waiter",      "_name",      "_thread_id",   "threading", "_active", "",       "f\xC3\xA9"};

  struct Description {
    Kind kind = kAnything;
    std::array<uint8_t, 16> fields{};
  };
  struct Word {
    uint64_t value = 0;  // of a pointer: the object's number and offset
    int8_t world = -1;   // of a pointer: how many worlds on
  };
  using Object = std::array<Word, kWords>;

  static uint64_t TypeAt(size_t number) { return kTypes + number % 32 * kPage; }

  // The second sixteen are subclasses, made at run time, with their attributes in the object.
  void MakeTypes() {
    types_.resize(32 * kPage);
    for (size_t i = 0; i < 32; ++i) {
      const auto put = [&](size_t at, uint64_t value) { std::memcpy(&types_[i * kPage + at], &value, sizeof(value)); };
      constexpr size_t kName = 2048;
      const std::string_view name = kTypeNames.at(i % 16);
      std::memcpy(&types_[i * kPage + kName], name.data(), name.size());
      put(layout_.type.name, TypeAt(i) + kName);
      put(layout_.type.basic_size, name == "_asyncio.Task" ? 256 : 32);
      put(layout_.type.dict_offset, 24);
      const std::array<uint64_t, 8> flags = {1 << 24, 1 << 28, 1 << 27, 1 << 25, 1 << 26, 1 << 29, 0, 1 << 24};
      put(layout_.type.flags, (i % 16 < 8 ? flags.at(i % 16) : 0) | (i >= 16 ? 1 << 9 | 1 << 4 : 0));
      if (layout_.type.cached_keys != kAbsent) put(layout_.type.cached_keys, kBase + kObject);
    }
  }

  Word PointerOf(uint8_t field) const {
    const size_t count = objects_.size();
    static constexpr std::array<uint64_t, 8> kNone = {0, 1, 8, 0xDEAD0, ~uint64_t{0}, uint64_t{1} << 47, 300, 24};
    if (field < 224) return {field % count * kPage + kObject, static_cast<int8_t>(field < 160 ? 0 : 1)};
    if (field < 240) return {TypeAt(field)};
    return {kNone.at(field % 8)};
  }

  void Make(const Description& from, Object& object) const {
    for (size_t i = 0; i < kWords; ++i) object[i] = PointerOf(from.fields.at(i % 16));
    const auto put = [&](uint64_t offset, uint64_t value, size_t bytes = 8) { Put(object, offset, value, bytes); };
    const auto small = [&](size_t field) { return uint64_t{from.fields.at(field)}; };
    const auto type = [&](size_t number) { put(layout_.object.type, TypeAt(number + (small(15) % 4 == 0 ? 16 : 0))); };
    const auto& at = layout_;
    switch (from.kind) {
      case kInt:
        type(0);
        put(at.integer.tag, small(0));
        break;
      case kStr: MakeText(object, kTexts.at(small(0) % 16), small(1)); break;
      case kBytes:
        type(2);
        put(at.bytes.size, small(0) < 250 ? small(0) : small(0) << 14);
        break;
      case kList:
        type(3);
        put(at.list.size, small(0));
        break;
      case kTuple:
        type(4);
        put(at.tuple.size, small(0) % 40);
        break;
      case kDict:
        type(5);
        put(at.dict.used, small(0));
        if (small(1) % 2 == 0) put(at.dict.values, 0);
        break;
      case kKeys:
        put(at.dict.keys_entry_count, small(0));
        if (at.dict.keys_log2_size == kAbsent) put(at.dict.keys_size, small(1));
        if (at.dict.keys_log2_size != kAbsent) put(at.dict.keys_log2_index_bytes, small(1) % 12, 1);
        if (at.dict.keys_log2_size != kAbsent) put(at.dict.keys_kind, small(2) % 3, 1);
        break;
      case kSet:
        type(6);
        put(24, small(0));
        put(32, (uint64_t{1} << small(1) % 22) - 1);
        break;
      case kGenerator: MakeGenerator(object, from); break;
      case kFrame: MakeFrame(object, 0, from); break;
      case kCode:
        put(at.object.type, TypeAt(small(15)));
        put(at.code.first_line, small(0), 4);
        if (at.code.units != kAbsent) put(at.code.units, small(1) << 4);
        if (at.code.first_traceable != kAbsent) put(at.code.first_traceable, 0, 4);
        break;
      case kThread: put(at.thread.interpreter, kBase + kObject); break;
      case kInterpreter: put(at.interpreter.id, small(0)); break;
      case kInstance: put(at.object.type, TypeAt(16 + small(0))); break;
      case kWrapper: put(at.object.type, TypeAt(13 + small(0) % 2 * 2)); break;
      case kTask:
        put(at.object.type, TypeAt(14));
        for (const uint64_t offset : {72, 80, 88, 96, 104}) put(offset, 0);  // pending, in whatever version
        break;
      default: break;
    }
  }

  void MakeText(Object& object, std::string_view text, uint64_t how) const {
    const auto& at = layout_.unicode;
    const bool compact = how % 8 != 0;
    const bool ascii = how % 4 != 1;
    const uint64_t kind = how % 16 == 2 ? 4 : 1;
    Put(object, layout_.object.type, TypeAt(1), 8);
    Put(object, at.length, how == 255 ? uint64_t{1} << 39 : text.size(), 8);
    Put(object, at.state, kind << at.kind_shift | uint64_t{compact} << at.compact_bit | uint64_t{ascii} << at.ascii_bit,
        4);
    for (size_t i = 0; i < text.size() && compact; ++i) {
      Put(object, (ascii ? at.ascii_data : at.compact_data) + i, static_cast<uint8_t>(text[i]), 1);
    }
  }

  void MakeGenerator(Object& object, const Description& from) const {
    const auto& at = layout_.generator;
    Put(object, layout_.object.type, TypeAt(8 + from.fields[0] % 3), 8);
    const auto state = static_cast<uint8_t>(from.fields[1] % 8 < 4 ? (layout_.minor >= 15 ? 2 : -1) : from.fields[1]);
    if (at.state != kAbsent) Put(object, at.state, state, 1);
    if (at.running != kAbsent) Put(object, at.running, from.fields[1] % 8 == 0 ? 1 : 0, 1);
    if (layout_.minor >= 11) MakeFrame(object, at.frame, from);
  }

  void MakeFrame(Object& object, uint64_t begin, const Description& from) const {
    const auto& at = layout_.frame;
    if (at.instruction_bytes != kAbsent) Put(object, begin + at.instruction, from.fields[2], 4);
    if (at.owner != kAbsent) Put(object, begin + at.owner, from.fields[3] % 6, 1);
    if (layout_.generator.frame_state != kAbsent) Put(object, begin + layout_.generator.frame_state, from.fields[1], 1);
    if (layout_.minor >= 10 && layout_.minor <= 13) {
      Put(object, begin + layout_.generator.stack_top, from.fields[4] % 32, 4);
    }
  }

  static void Put(Object& object, uint64_t offset, uint64_t value, size_t bytes) {
    const uint64_t at = kObject + offset;
    if (at + bytes > kPage) return;
    for (size_t i = 0; i < bytes; ++i) {  // may lie across two words
      Word& word = object.at((at + i) / 8);
      if (word.world >= 0) word = {};
      const uint64_t shift = (at + i) % 8 * 8;
      word.value = (word.value & ~(uint64_t{0xFF} << shift)) | (value >> (i * 8) & 0xFF) << shift;
    }
  }

  bool ReadRange(uint64_t address, std::byte* into, size_t bytes) const {
    if (address >= kTypes && address - kTypes <= types_.size() && bytes <= types_.size() - (address - kTypes)) {
      std::memcpy(into, types_.data() + (address - kTypes), bytes);
      return true;
    }
    const uint64_t end = objects_.size() * worlds_ * kPage;
    if (address < kBase || address - kBase > end || bytes > end - (address - kBase)) return false;
    for (uint64_t at = address - kBase; bytes > 0;) {
      const uint64_t value = WordAt(at / kPage, at % kPage / 8);
      const size_t skip = at % 8;
      const size_t count = std::min<size_t>(8 - skip, bytes);
      std::memcpy(into, reinterpret_cast<const std::byte*>(&value) + skip, count);
      into += count;
      at += count;
      bytes -= count;
    }
    return true;
  }

  uint64_t WordAt(uint64_t page, size_t index) const {
    const Word& word = objects_[page % objects_.size()][index];
    if (word.world < 0) return word.value;
    const uint64_t world = std::min(page / objects_.size() + static_cast<uint64_t>(word.world), worlds_ - 1);
    return kBase + world * objects_.size() * kPage + word.value;
  }

  const Layout& layout_;
  uint64_t worlds_ = 1;
  std::vector<std::byte> types_;
  std::vector<Object> objects_;
};

}  // namespace wf::cpython

#endif  // WF_CPYTHON_INVENTED_MEMORY_TESTING_H_
