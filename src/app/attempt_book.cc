#include "app/attempt_book.h"

#include <cstring>
#include <utility>

#include "profile/escape.h"
#include "profile/index_table.h"

namespace wf::app {

size_t AttemptBook::HashOfKey::operator()(const Key& key) const {
  uint64_t words[2];
  std::memcpy(words, key.run.bytes.data(), sizeof(words));
  return profile::MixBits(words[0] ^ profile::MixBits(words[1] ^ profile::MixBits(key.attempt)));
}

// The empty name stands for those that are not told, and for those that are too many.
AttemptBook::Found AttemptBook::NumberOfTask(const std::string& name) {
  const auto [at, is_new] = tasks_.try_emplace(IsTold(name) ? name : std::string(), last_ + 1);
  if (is_new) ++last_;
  return {at->second, is_new};
}

bool AttemptBook::IsTold(const std::string& name) const {
  return !name.empty() && (tasks_.size() < kMostTasks || tasks_.contains(name));
}

AttemptBook::Found AttemptBook::NumberOfAttempt(const Key& key) {
  const auto found = recent_.find(key);
  if (found != recent_.end()) return {found->second, false};
  if (recent_.size() >= kMostRemembered) older_ = std::exchange(recent_, {});
  const auto before = older_.find(key);
  const bool is_new = before == older_.end();
  const uint64_t number = is_new ? ++last_ : before->second;
  recent_.emplace(key, number);
  return {number, is_new};
}

AttemptBook::Found AttemptBook::NumberOf(const context::ThreadEntry& entry, const std::string& name) {
  if (detail_ == Detail::kTasks) return NumberOfTask(name);
  return NumberOfAttempt({entry.run, entry.attempt});
}

profile::StackAttempt AttemptBook::Row(uint64_t number, const context::ThreadEntry& entry, const std::string& name) {
  profile::StackAttempt row;
  row.id = number;
  row.task = IsTold(name) ? profile::CleanText(name, profile::kMaxTextBytes) : kUnknownTask;
  if (detail_ == Detail::kTasks) return row;
  row.run = entry.run;
  row.attempt = entry.attempt;
  row.node = entry.node;
  if (IsTold(name)) tasks_.try_emplace(name, tasks_.size() + 1);
  return row;
}

}  // namespace wf::app
