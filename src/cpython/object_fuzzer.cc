// Objects of every supported CPython in invented memory: values as text, dicts, attributes, chains of coroutines,
// tasks, locals, names of threads, and stacks. Whatever the memory holds, each ends within bounds and says what it
// could read.
#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "cpython/async_tasks.h"
#include "cpython/coroutine.h"
#include "cpython/dict.h"
#include "cpython/eval_anchors.h"
#include "cpython/invented_memory_testing.h"
#include "cpython/locals.h"
#include "cpython/stack_reader.h"
#include "cpython/thread_names.h"
#include "cpython/unicode.h"
#include "cpython/value_text.h"

namespace wf::cpython {
namespace {

constexpr size_t kMostFrames = 50;
constexpr uint64_t kMostReads = 20'000'000;

void ReadObject(InventedMemory& memory, const Layout& layout, uint64_t address) {
  const ValueLimits limits;
  const std::string text = ValueText(memory, layout, limits).Of(address);
  WF_CHECK(!text.empty());
  WF_CHECK(text.size() < limits.objects * 128);
  WF_CHECK(ReadDict(memory, layout, address, 100).size() <= 100);
  (void)FindAttribute(memory, layout, address, "_name");
  (void)ReadInteger(memory, layout, address);
  (void)IsCoroutine(memory, layout, address);
  const auto name = ReadString(memory, layout, address, 20);
  WF_CHECK(!name || name->size() <= 20 * 4 + 3);
  const auto bytes = ReadBytes(memory, layout, address, 1000);
  WF_CHECK(!bytes || bytes->size() <= 1000);
  const AwaitChain chain = ReadAwaitChain(memory, layout, address);
  WF_CHECK(chain.frames.size() <= kMostAwaits);
}

// Its code as this room reads it, so that its locals are looked at.
void ReadLocalsAt(InventedMemory& memory, const Layout& layout, uint64_t address) {
  const auto raw = ReadFrame(memory, layout, address);
  if (!raw) return;
  CodeCache codes(layout, 0);
  codes.Refresh(memory, std::vector<uint64_t>{raw->code}, false);
  const auto* const code = codes.Find(raw->code);
  if (code == nullptr) return;
  Frame frame;
  frame.code = *code;
  frame.address = address;
  WF_CHECK(ReadLocals(memory, layout, frame, {}).size() <= 1000);
}

void ReadStacks(InventedMemory& memory, const Runtime& runtime) {
  StackReader reader(memory, runtime, {.most_frames = kMostFrames, .attempts = 2});
  ThreadNames names(memory, runtime.layout);
  for (int64_t i = 0; i < 3; ++i) {
    const Sample& sample = reader.Read();
    names.Refresh(sample, reader.interpreters(), i * 1'000'000'000);
    for (const ThreadStack& thread : sample.threads) {
      WF_CHECK(thread.frames.size() <= kMostFrames);
      for (const Frame& frame : thread.frames) WF_CHECK(frame.code != nullptr || thread.reject != Reject::kNone);
    }
    if (sample.threads.empty()) continue;
    const ThreadStack& first = sample.threads.front();
    const auto anchors = EvalAnchors(memory, runtime.layout, first.thread, first.frames, first.truncated);
    WF_CHECK(anchors.size() <= first.frames.size());
  }
}

}  // namespace
}  // namespace wf::cpython

// minor (1 byte), which parts (1), then the memory
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wf::cpython;  // NOLINT(google-build-using-namespace)
  wf::base::FuzzerInput input(data, size);
  Runtime runtime;
  runtime.minor = kOldestMinor + input.Take<uint8_t>() % 8;
  runtime.layout = *FindLayout(runtime.minor);
  const auto parts = input.Take<uint8_t>();
  InventedMemory memory(runtime.layout, &input);
  runtime.address = memory.AddressOf(0);
  for (size_t i = 0; i < std::min<size_t>(memory.objects(), 8); ++i) {
    ReadObject(memory, runtime.layout, memory.AddressOf(i));
    ReadLocalsAt(memory, runtime.layout, memory.AddressOf(i));
    WF_CHECK(memory.reads < kMostReads);
  }
  memory.reads = 0;
  if ((parts & 1) != 0) {
    const std::vector<uint64_t> threads = {memory.AddressOf(0), memory.AddressOf(1), 0, UINT64_MAX};
    const AsyncSnapshot snapshot = AsyncTasks(memory, runtime).Read(threads);
    WF_CHECK(snapshot.tasks.size() <= AsyncTasks::kMostTasks);
    WF_CHECK(memory.reads < kMostReads);
  }
  memory.reads = 0;
  if ((parts & 2) != 0) ReadStacks(memory, runtime);
  WF_CHECK(memory.reads < kMostReads);
  return 0;
}

// A runtime, an interpreter, threads and frames that hang together, and some values; for each version.
std::vector<std::string> wf::base::FuzzerSeeds() {
  using Memory = wf::cpython::InventedMemory;
  std::vector<std::string> seeds;
  for (int minor = 0; minor < 8; ++minor) {
    for (uint8_t step = 1; step < 12; ++step) {
      std::string seed = {static_cast<char>(minor), 3, static_cast<char>(step % 5)};
      for (uint8_t object = 0; object < 30; ++object) {
        seed += static_cast<char>((object * step) % Memory::kKinds);
        for (uint8_t field = 0; field < 16; ++field)
          seed += static_cast<char>((object + field * step) % 30 + field % 2 * 160);
      }
      seeds.push_back(seed);
    }
  }
  return seeds;
}
