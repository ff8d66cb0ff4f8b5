#include "cpython/thread_names.h"

#include <algorithm>
#include <utility>

#include "cpython/dict.h"
#include "cpython/unicode.h"

namespace wf::cpython {
namespace {

constexpr int64_t kOldNs = 1'000'000'000;
constexpr int64_t kRetryNs = 500'000;
constexpr size_t kMostThreads = 1 << 14;
constexpr size_t kLongestName = 200;

}  // namespace

void ThreadNames::Refresh(const Sample& sample, const std::map<int64_t, uint64_t>& interpreters, int64_t now_ns) {
  if (sample.list_version == list_ && list_ != 0 && now_ns < due_ns_) return;
  list_ = sample.list_version;
  std::map<Key, Known> kept;
  std::map<int64_t, std::map<uint64_t, std::string>> read;
  for (const ThreadStack& thread : sample.threads) {
    const Key key{thread.interpreter, thread.state_id, thread.pthread_id};
    const auto known = names_.find(key);
    const bool is_new = known == names_.end();
    Known& entry = kept[key];
    entry = is_new ? Known{"", now_ns} : known->second;
    const auto last = read_ns_.find(thread.interpreter);
    const int64_t age = last == read_ns_.end() ? kOldNs : now_ns - last->second;
    const bool wanted = is_new || age >= PatienceFor(entry, now_ns);
    const auto home = interpreters.find(thread.interpreter);
    if (wanted && home != interpreters.end() && !read.contains(thread.interpreter)) {
      read[thread.interpreter] = Read(home->second);
    }
    if (const auto names = read.find(thread.interpreter); names != read.end()) {
      const auto name = names->second.find(thread.pthread_id);
      if (name != names->second.end()) entry.name = name->second;
    }
  }
  for (const auto& [interpreter, names] : read) read_ns_[interpreter] = now_ns;
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && a.second.name == b.second.name; };
  if (!std::equal(names_.begin(), names_.end(), kept.begin(), kept.end(), same)) ++version_;
  names_ = std::move(kept);
  SetDue(sample, now_ns);
}

// A new thread gets its name within a millisecond or so; one that is nameless for long most likely stays so.
int64_t ThreadNames::PatienceFor(const Known& known, int64_t now_ns) const {
  return known.name.empty() ? std::clamp((now_ns - known.first_seen_ns) / 4, kRetryNs, kOldNs) : kOldNs;
}

void ThreadNames::SetDue(const Sample& sample, int64_t now_ns) {
  due_ns_ = now_ns + kOldNs;
  for (const ThreadStack& thread : sample.threads) {
    const auto known = names_.find({thread.interpreter, thread.state_id, thread.pthread_id});
    const auto last = read_ns_.find(thread.interpreter);
    if (known == names_.end() || last == read_ns_.end()) continue;
    due_ns_ = std::min(due_ns_, last->second + PatienceFor(known->second, now_ns));
  }
}

const std::string& ThreadNames::Of(const ThreadStack& thread) const {
  static const std::string kNone;
  const auto found = names_.find({thread.interpreter, thread.state_id, thread.pthread_id});
  return found == names_.end() ? kNone : found->second.name;
}

// The dict changes while it is read, and freed tables still hold old entries: only what is read twice is believed.
std::map<uint64_t, std::string> ThreadNames::Read(uint64_t interpreter) {
  auto names = ReadOnce(interpreter);
  const auto again = ReadOnce(interpreter);
  std::erase_if(names, [&](const auto& entry) {
    const auto other = again.find(entry.first);
    return other == again.end() || other->second != entry.second;
  });
  return names;
}

std::map<uint64_t, std::string> ThreadNames::ReadOnce(uint64_t interpreter) {
  memory_.Begin();
  uint64_t& active = actives_[interpreter];
  auto threads = ReadDict(memory_, layout_, active, kMostThreads);
  if (threads.empty()) {
    const auto modules = memory_.Get<uint64_t>(interpreter + layout_.interpreter.modules).value_or(0);
    const uint64_t threading = FindInDict(memory_, layout_, modules, "threading");
    const auto globals = memory_.Get<uint64_t>(threading + layout_.module.dict).value_or(0);
    active = threading == 0 ? 0 : FindInDict(memory_, layout_, globals, "_active");
    threads = ReadDict(memory_, layout_, active, kMostThreads);
  }
  std::map<uint64_t, std::string> names;
  for (const auto& [key, thread] : threads) {
    const auto ident = ReadInteger(memory_, layout_, key);
    const uint64_t name = ident ? FindAttribute(memory_, layout_, thread, "_name") : 0;
    if (name == 0) continue;
    if (auto text = ReadString(memory_, layout_, name, kLongestName)) names[*ident] = std::move(*text);
  }
  return names;
}

}  // namespace wf::cpython
