// AttemptBook: how a recording numbers the attempts that it met: they belong to runs of their own, of which it may see
// several, and which may count their attempts alike.
//
//   AttemptBook book(AttemptBook::Detail::kAttempts);
//   const auto [number, is_new] = book.NumberOf(entry, name);
//   if (is_new) … book.Row(number, entry, name) …
//
// Memory is bounded. With kAttempts the book forgets attempts that it did not meet for long; one that comes back gets
// another number. With kTasks, for readers that ask only which task it was, all attempts of a task have one number.
//
// Threading: one thread at a time.
#ifndef WF_APP_ATTEMPT_BOOK_H_
#define WF_APP_ATTEMPT_BOOK_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/run_id.h"
#include "context/page_reader.h"
#include "profile/stacks.h"

namespace wf::app {

class AttemptBook {
 public:
  enum class Detail { kTasks, kAttempts };
  // Of a task when the process that runs it does not tell its name, or tells too many.
  static constexpr char kUnknownTask[] = "(name not known)";

  explicit AttemptBook(Detail detail) : detail_(detail) {}

  struct Found {
    uint64_t number = 0;  // in this recording, from 1
    bool is_new = false;
  };
  // `name` of its task may hold anything.
  Found NumberOf(const context::ThreadEntry& entry, const std::string& name);
  // What that number stands for. REQUIRES: the number is that of NumberOf, for the same.
  profile::StackAttempt Row(uint64_t number, const context::ThreadEntry& entry, const std::string& name);

 private:
  static constexpr size_t kMostRemembered = 1 << 15;
  static constexpr size_t kMostTasks = 4096;

  struct Key {
    base::RunId run;
    uint64_t attempt = 0;
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    size_t operator()(const Key& key) const;
  };
  using Numbers = std::unordered_map<Key, uint64_t, HashOfKey>;

  bool IsTold(const std::string& name) const;
  Found NumberOfTask(const std::string& name);
  Found NumberOfAttempt(const Key& key);

  const Detail detail_;
  uint64_t last_ = 0;
  Numbers recent_, older_;                           // kAttempts
  std::unordered_map<std::string, uint64_t> tasks_;  // by name; with kTasks, the numbers
};

}  // namespace wf::app

#endif  // WF_APP_ATTEMPT_BOOK_H_
