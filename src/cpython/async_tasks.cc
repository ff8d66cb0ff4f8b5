#include "cpython/async_tasks.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "cpython/dict.h"
#include "cpython/unicode.h"
#include "cpython/value_text.h"

namespace wf::cpython {
namespace {

constexpr size_t kMostSlots = 1 << 20;  // of a set; more than kMostTasks need, for it shrinks late
constexpr size_t kMostInterpreters = 64;
constexpr size_t kLongestName = 200;
constexpr int kAttempts = 4;

// TaskObj of Modules/_asynciomodule.c, which is in no header; compared with living tasks of 3.8.18, 3.9.18, 3.10.13,
// 3.11.7, 3.12.1, 3.13.0, 3.14 and 3.15 (tests/integration/test_async.py does it again).
struct TaskLayout {
  uint32_t loop, state, waiter, coroutine, name, node;
};

constexpr TaskLayout LayoutOf(uint32_t minor) {
  if (minor == 8) return {16, 72, 104, 112, 120, kAbsent};
  if (minor == 9) return {16, 80, 144, 152, 160, kAbsent};
  if (minor == 10) return {16, 88, 152, 160, 168, kAbsent};
  if (minor <= 12) return {16, 88, 128, 136, 144, kAbsent};
  if (minor == 13) return {16, 96, 112, 120, 128, kAbsent};
  return {16, 104, 120, 128, 136, 152};
}

}  // namespace

AsyncTasks::AsyncTasks(MemoryReader& memory, const Runtime& runtime)
    : memory_(memory),
      runtime_(runtime),
      codes_(runtime_.layout, runtime_.code_type),
      translator_(runtime_.layout, codes_) {}

AsyncSnapshot AsyncTasks::Read(std::span<const uint64_t> threads) {
  AsyncSnapshot snapshot;
  std::map<uint64_t, RawTask> settled;
  std::set<uint64_t> pending = Find(threads, &snapshot);
  for (int i = 0; i < kAttempts && !pending.empty(); ++i) Settle(&pending, &settled, &snapshot.tasks);
  snapshot.unsettled = pending.size();
  for (AsyncTask& task : snapshot.tasks) {
    const RawTask& raw = settled[task.address];
    const auto awaited = settled.find(raw.chain.awaited != 0 ? raw.chain.awaited : raw.waiter);
    if (awaited != settled.end()) task.awaited_task = awaited->second.name;
  }
  std::sort(snapshot.tasks.begin(), snapshot.tasks.end(), [](const AsyncTask& a, const AsyncTask& b) {
    return std::tie(a.name, a.address) < std::tie(b.name, b.address);
  });
  return snapshot;
}

std::set<uint64_t> AsyncTasks::Find(std::span<const uint64_t> threads, AsyncSnapshot* snapshot) {
  const Layout& layout = runtime_.layout;
  std::set<uint64_t> found;
  uint64_t interpreter = memory_.Get<uint64_t>(runtime_.address + layout.runtime.interpreters_head).value_or(0);
  for (size_t i = 0; i < kMostInterpreters && IsPlausiblePointer(interpreter); ++i) {
    AddFromModule(interpreter, &found, snapshot);
    if (layout.asyncio.interpreter_tasks != kAbsent) {
      AddFromList(interpreter + layout.asyncio.interpreter_tasks, &found);
    }
    interpreter = memory_.Get<uint64_t>(interpreter + layout.interpreter.next).value_or(0);
  }
  if (layout.asyncio.thread_tasks != kAbsent) {
    for (const uint64_t thread : threads) AddFromList(thread + layout.asyncio.thread_tasks, &found);
  }
  snapshot->limited = found.size() >= kMostTasks;
  return found;
}

void AsyncTasks::AddFromModule(uint64_t interpreter, std::set<uint64_t>* found, AsyncSnapshot* snapshot) {
  const Layout& layout = runtime_.layout;
  const auto modules = memory_.Get<uint64_t>(interpreter + layout.interpreter.modules).value_or(0);
  const uint64_t module = FindInDict(memory_, layout, modules, "asyncio.tasks");
  if (module == 0) return;
  snapshot->imported = true;
  const auto globals = memory_.Get<uint64_t>(module + layout.module.dict).value_or(0);
  const uint64_t weak = FindInDict(memory_, layout, globals, layout.minor >= 12 ? "_scheduled_tasks" : "_all_tasks");
  if (weak != 0) AddFromSet(FindAttribute(memory_, layout, weak, "data"), /*weak=*/true, found);
  if (layout.minor < 12) return;
  AddFromSet(FindInDict(memory_, layout, globals, "_eager_tasks"), /*weak=*/false, found);
}

// PySetObject, the same in every version: fill, used, mask, table; an entry is a key and its hash. A key that was
// removed leaves a mark with the hash -1. A weak reference begins with what it refers to.
void AsyncTasks::AddFromSet(uint64_t set, bool weak, std::set<uint64_t>* found) {
  const uint64_t fields = runtime_.layout.module.dict;  // behind the head of an object
  std::array<uint64_t, 4> head{};
  if (!IsPlausiblePointer(set) || !memory_.ReadOne(set + fields, head.data(), sizeof(head))) return;
  const uint64_t mask = head[2];
  if (mask >= kMostSlots) return;
  std::vector<std::pair<uint64_t, int64_t>> slots(mask + 1);
  static_assert(sizeof(slots[0]) == 16);
  if (!memory_.ReadOne(head[3], slots.data(), slots.size() * 16)) return;
  for (const auto& [key, hash] : slots) {
    if (!IsPlausiblePointer(key) || hash == -1) continue;
    const uint64_t task = weak ? memory_.Get<uint64_t>(key + fields).value_or(0) : key;
    if (found->size() < kMostTasks && IsPlausiblePointer(task)) found->insert(task);
  }
}

void AsyncTasks::AddFromList(uint64_t head, std::set<uint64_t>* found) {
  const uint64_t node = LayoutOf(runtime_.minor).node;
  uint64_t at = memory_.Get<uint64_t>(head).value_or(0);
  for (size_t i = 0; i < kMostTasks && found->size() < kMostTasks && at != head && IsPlausiblePointer(at); ++i) {
    if (!found->insert(at - node).second) break;  // a ring that does not come back to its head
    at = memory_.Get<uint64_t>(at).value_or(0);
  }
}

std::optional<AsyncTasks::RawTask> AsyncTasks::ReadTask(uint64_t address) {
  if (!IsPlausiblePointer(address)) return std::nullopt;
  auto task = ReadNativeTask(address);
  return task ? task : ReadPythonTask(address);
}

std::optional<AsyncTasks::RawTask> AsyncTasks::ReadNativeTask(uint64_t address) {
  const Layout& layout = runtime_.layout;
  const TaskLayout at = LayoutOf(runtime_.minor);
  const auto type = memory_.Get<uint64_t>(address + layout.object.type).value_or(0);
  if (!IsPlausiblePointer(type)) return std::nullopt;
  const auto size = memory_.Get<uint64_t>(type + layout.type.basic_size).value_or(0);
  if (size < at.name + 8) return std::nullopt;  // an object of a Python class is smaller
  std::array<std::byte, 256> object{};
  if (!memory_.ReadOne(address, object.data(), at.name + 8)) return std::nullopt;
  if (FieldAt<uint32_t>(object, at.state) != 0) return std::nullopt;  // done
  RawTask task;
  task.coroutine = FieldAt<uint64_t>(object, at.coroutine);
  task.loop = FieldAt<uint64_t>(object, at.loop);
  task.waiter = FieldAt<uint64_t>(object, at.waiter);
  if (!IsCoroutine(memory_, layout, task.coroutine)) return std::nullopt;
  task.name = NameFrom(FieldAt<uint64_t>(object, at.name));
  task.chain = ReadAwaitChain(memory_, layout, task.coroutine);
  return task;
}

// asyncio.tasks._PyTask, and a class of somebody's own with the same attributes.
std::optional<AsyncTasks::RawTask> AsyncTasks::ReadPythonTask(uint64_t address) {
  const Layout& layout = runtime_.layout;
  RawTask task;
  task.coroutine = FindAttribute(memory_, layout, address, "_coro");
  if (!IsCoroutine(memory_, layout, task.coroutine)) return std::nullopt;
  const uint64_t state = FindAttribute(memory_, layout, address, "_state");
  if (state != 0 && ReadString(memory_, layout, state, kLongestName) != "PENDING") return std::nullopt;
  task.loop = FindAttribute(memory_, layout, address, "_loop");
  const uint64_t waiter = FindAttribute(memory_, layout, address, "_fut_waiter");
  if (ValueText(memory_, layout, {}).TypeName(waiter) != "NoneType") task.waiter = waiter;
  task.name = NameFrom(FindAttribute(memory_, layout, address, "_name"));
  task.chain = ReadAwaitChain(memory_, layout, task.coroutine);
  return task;
}

// From 3.12 on a default name is an int until somebody asks for it.
std::string AsyncTasks::NameFrom(uint64_t object) {
  const auto type = ValueText(memory_, runtime_.layout, {}).TypeName(object);
  if (!type) return "";
  if (*type != "int") return ReadString(memory_, runtime_.layout, object, kLongestName).value_or("");
  const auto number = ReadInteger(memory_, runtime_.layout, object);
  return number ? "Task-" + std::to_string(*number) : "";
}

uint64_t AsyncTasks::ThreadOf(uint64_t loop) {
  if (!IsPlausiblePointer(loop)) return 0;
  const uint64_t ident = FindAttribute(memory_, runtime_.layout, loop, "_thread_id");
  if (ValueText(memory_, runtime_.layout, {}).TypeName(ident) != "int") return 0;
  return ReadInteger(memory_, runtime_.layout, ident).value_or(0);
}

AsyncTask AsyncTasks::Show(uint64_t address, const RawTask& raw) {
  AsyncTask task;
  task.address = address;
  task.name = raw.name;
  task.running = raw.chain.running;
  task.waiting = !task.running && raw.waiter != 0;
  task.truncated = raw.chain.truncated;
  Translation done;
  translator_.Translate(raw.chain.frames, &task.frames, &done);
  return task;
}

void AsyncTasks::Settle(std::set<uint64_t>* pending, std::map<uint64_t, RawTask>* settled,
                        std::vector<AsyncTask>* shown) {
  std::map<uint64_t, RawTask> first;
  std::set<uint64_t> codes;
  codes_.Trim();
  for (const uint64_t address : *pending) {
    auto raw = ReadTask(address);
    if (!raw) continue;
    for (const RawFrame& frame : raw->chain.frames) codes.insert(frame.code);
    first[address] = std::move(*raw);
  }
  codes_.Refresh(memory_, std::vector<uint64_t>(codes.begin(), codes.end()), /*unchanged=*/false);
  std::map<uint64_t, uint64_t> threads;  // by loop
  std::set<uint64_t> unsettled;
  for (auto& [address, raw] : first) {
    AsyncTask task = Show(address, raw);
    const auto [thread, is_new] = threads.try_emplace(raw.loop, 0);
    if (is_new) thread->second = ThreadOf(raw.loop);
    task.thread_id = thread->second;
    const auto again = ReadTask(address);
    if (again && *again == raw) {
      shown->push_back(std::move(task));
      (*settled)[address] = std::move(raw);
    } else if (again) {
      unsettled.insert(address);
    }
  }
  *pending = std::move(unsettled);
}

}  // namespace wf::cpython
