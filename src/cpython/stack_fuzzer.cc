// The stack walk of every supported CPython over memory that was recorded from it and then spoilt as the input says,
// before it is read and while it is: bytes and pointers changed, pages taken away. No bytes may do harm, reads are
// bounded, and what cannot be trusted is rejected with a reason.
#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "cpython/async_tasks.h"
#include "cpython/eval_anchors.h"
#include "cpython/locals.h"
#include "cpython/recorded_memory_testing.h"
#include "cpython/stack_reader.h"
#include "cpython/thread_names.h"

namespace wf::cpython {
namespace {

constexpr size_t kMostFrames = 200;
constexpr uint64_t kMostReads = 3'000'000;

// One change. Places are counted among the words that hold pointers into the memory: those lead the reader.
struct Edit {
  uint8_t how = 0;
  uint8_t after = 0;  // so many reads later than the edit before it
  uint16_t place = 0;
  uint16_t offset = 0;  // in bytes from there
  uint64_t value = 0;
};

struct Recording {
  RecordedMemory memory;
  Runtime runtime;
  std::vector<uint64_t> pointers;  // addresses of words that point into the memory
};

uint64_t WordAt(RecordedMemory& memory, uint64_t address) { return memory.Get<uint64_t>(address).value_or(0); }

Recording Load(uint32_t minor) {
  Recording recording;
  recording.memory = RecordedMemory::Load(std::string(WF_FIXTURES) + "/cpython/3_" + std::to_string(minor) + ".memory");
  const FoundRuntime found = FindRuntime(recording.memory, recording.memory.modules);
  WF_CHECK(found.outcome == FindOutcome::kFound);
  recording.runtime = found.runtime;
  for (const auto& [begin, bytes] : recording.memory.pieces) {
    for (uint64_t at = (begin + 7) / 8 * 8; at + 8 <= begin + bytes.size(); at += 8) {
      if (recording.memory.Get<uint8_t>(WordAt(recording.memory, at))) recording.pointers.push_back(at);
    }
  }
  return recording;
}

const Recording& RecordingOf(uint32_t minor) {
  static const std::array<Recording, 8> kRecordings = [] {
    std::array<Recording, 8> all;
    for (uint32_t i = 0; i < 8; ++i) all.at(i) = Load(kOldestMinor + i);
    return all;
  }();
  return kRecordings.at(minor - kOldestMinor);
}

class SpoiltMemory final : public MemoryReader {
 public:
  SpoiltMemory(const Recording& recording, std::deque<Edit> edits)
      : recording_(recording), memory_(recording.memory), edits_(std::move(edits)) {}

  void Read(std::span<Segment> segments) override {
    while (!edits_.empty() && until_next_ >= edits_.front().after) {
      Apply(edits_.front());
      edits_.pop_front();
      until_next_ = 0;
    }
    ++until_next_;
    memory_.Read(segments);
  }
  uint64_t reads() const { return memory_.reads; }

 private:
  void Apply(const Edit& edit) {
    const std::vector<uint64_t>& pointers = recording_.pointers;
    const uint64_t place = pointers[edit.place % pointers.size()];
    const uint64_t target = pointers[edit.value % pointers.size()];
    const uint64_t address = place + edit.offset % 512;
    static constexpr std::array<uint64_t, 8> kValues = {0,          1,     4096, uint64_t{1} << 47, ~uint64_t{0},
                                                        0x7FFFFFFF, 0xFF8, 255};
    switch (edit.how % 8) {
      case 0: Put(address, edit.value, 1); break;
      case 1: Put(address, kValues.at(edit.value % 8), 8); break;
      case 2: Put(address, WordAt(memory_, target), 8); break;
      case 3: Put(address, target + edit.offset, 8); break;
      case 4: Put(address, place, 8); break;  // a ring
      case 5: memory_.pieces.erase(PieceAt(WordAt(memory_, place))); break;
      case 6: Shorten(WordAt(memory_, place)); break;
      default: Put(address, edit.value, 8);
    }
  }
  // The beginning of the piece in which it lies.
  uint64_t PieceAt(uint64_t address) const {
    const auto after = memory_.pieces.upper_bound(address);
    return after == memory_.pieces.begin() ? 0 : std::prev(after)->first;
  }
  void Put(uint64_t address, uint64_t value, size_t bytes) {
    const auto piece = memory_.pieces.find(PieceAt(address));
    if (piece == memory_.pieces.end() || address - piece->first + bytes > piece->second.size()) return;
    std::memcpy(piece->second.data() + (address - piece->first), &value, bytes);
  }
  void Shorten(uint64_t address) {
    const auto piece = memory_.pieces.find(PieceAt(address));
    if (piece == memory_.pieces.end() || address - piece->first >= piece->second.size()) return;
    piece->second.resize(address - piece->first);
  }

  const Recording& recording_;
  RecordedMemory memory_;
  std::deque<Edit> edits_;
  uint64_t until_next_ = 0;
};

void CheckText(const std::string& text) { WF_CHECK(text.size() <= 1000 * 4 + 3); }

void CheckThread(const ThreadStack& thread) {
  WF_CHECK(thread.frames.size() <= kMostFrames);
  WF_CHECK(static_cast<size_t>(thread.reject) < kRejectCount);
  for (const Frame& frame : thread.frames) {
    WF_CHECK(frame.code != nullptr || thread.reject != Reject::kNone);
    WF_CHECK(frame.line >= 0);
    if (frame.code == nullptr) continue;
    CheckText(frame.code->name);
    CheckText(frame.code->filename);
  }
}

void ReadAll(MemoryReader& memory, const Runtime& runtime) {
  constexpr size_t kMostLooks = 8;  // at locals: the deep stack of the recordings has hundreds of one function
  StackReader reader(memory, runtime, {.most_frames = kMostFrames, .attempts = 3});
  ThreadNames names(memory, runtime.layout);
  std::vector<uint64_t> threads;
  for (int64_t i = 0; i < 4; ++i) {  // the later ones from what is known
    const Sample& sample = reader.Read();
    WF_CHECK(sample.alive || sample.threads.empty());
    names.Refresh(sample, reader.interpreters(), i * 300'000'000);
    for (const ThreadStack& thread : sample.threads) {
      CheckThread(thread);
      CheckText(names.Of(thread));
    }
    if (i % 2 == 0) continue;
    threads.clear();
    for (const ThreadStack& thread : sample.threads) {
      threads.push_back(thread.thread);
      WF_CHECK(EvalAnchors(memory, runtime.layout, thread.thread, thread.frames, thread.truncated).size() <=
               thread.frames.size());
      for (size_t f = 0; f < std::min(thread.frames.size(), kMostLooks); ++f) {
        (void)ReadLocals(memory, runtime.layout, thread.frames[f], {});
        (void)ReadAwaitChain(memory, runtime.layout, thread.frames[f].address);
      }
    }
  }
  (void)AsyncTasks(memory, runtime).Read(threads);
}

}  // namespace
}  // namespace wf::cpython

// minor (1 byte), then edits: how (1), after (1), place (2), offset (2), value (8)
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wf::cpython;  // NOLINT(google-build-using-namespace)
  constexpr size_t kMostEdits = 256;
  wf::base::FuzzerInput input(data, size);
  const Recording& recording = RecordingOf(kOldestMinor + input.Take<uint8_t>() % 8);
  std::deque<Edit> edits;
  while (!input.empty() && edits.size() < kMostEdits) {
    Edit& edit = edits.emplace_back();
    edit.how = input.Take<uint8_t>();
    edit.after = input.Take<uint8_t>();
    edit.place = input.Take<uint16_t>();
    edit.offset = input.Take<uint16_t>();
    edit.value = input.Take<uint64_t>();
  }
  SpoiltMemory memory(recording, std::move(edits));
  const FoundRuntime found = FindRuntime(memory, recording.memory.modules);
  // Also when it would not be found any more.
  ReadAll(memory, found.outcome == FindOutcome::kFound ? found.runtime : recording.runtime);
  WF_CHECK(memory.reads() < kMostReads);
  return 0;
}

// Each version as it was recorded, and with some edits that take effect while it is read.
std::vector<std::string> wf::base::FuzzerSeeds() {
  std::vector<std::string> seeds;
  for (int minor = 0; minor < 8; ++minor) {
    seeds.emplace_back(1, static_cast<char>(minor));
    for (int how = 0; how < 8; ++how) {
      std::string& seed = seeds.emplace_back(1, static_cast<char>(minor));
      for (uint16_t i = 0; i < 12; ++i) {
        seed += static_cast<char>(how);
        seed += static_cast<char>(how % 2 == 0 ? 0 : i * 5);
        seed += FuzzerBytes(static_cast<uint16_t>(i * 977)) + FuzzerBytes(static_cast<uint16_t>(i % 4 * 8)) +
                FuzzerBytes(uint64_t{i} * 7919);
      }
    }
  }
  return seeds;
}
