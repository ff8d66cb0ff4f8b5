// TopModel: what a process does right now: for each function, and each line, how much of the last window and of all the
// time since the beginning went into it; for each thread, what state it is in. The figures of `wf top`.
//
//   TopModel model({.idle = false});
//   model.Begin(meta);                    // then PutProcess and Put, in the order in which a recorder has them
//   model.Put(piece);                     // the piece is the window now
//   model.Rows({.unit = TopUnit::kFunction, .column = TopColumn::kTotalShare})
//
// Time is that of threads: two threads in one function for a second are two seconds. Shares are of BasisNs, so that
// they never exceed 1: of the clock, or of the time of all threads when more than one ran at once.
//
// Memory is bounded: of the places (functions and lines) beyond `most_places` those are forgotten that have been quiet
// longest, with their time; threads are forgotten when they ended, what they did stays in the figures of all threads.
// The tables of stacks are bounded by the recorder that made them.
//
// Threading: one thread at a time. A copy is whole: pictures can be made of it while the original goes on.
#ifndef WF_ANALYSIS_TOP_MODEL_H_
#define WF_ANALYSIS_TOP_MODEL_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/top_places.h"
#include "profile/stack_recorder.h"

namespace wf::analysis {

struct TopOptions {
  bool idle = false;  // threads that wait count too
  bool gil = false;   // only time with the interpreter's lock
  size_t most_places = 20'000;
};

enum class TopColumn : uint8_t { kOwnShare, kTotalShare, kOwnTime, kTotalTime };

// Own: it was the innermost; total: it was anywhere in the stack.
struct TopTimes {
  int64_t own_ns = 0;
  int64_t total_ns = 0;
};

// Time of threads.
struct TopActivity {
  int64_t active_ns = 0;  // on a CPU or waiting for one
  int64_t gil_ns = 0;
};

struct TopRow {
  const TopPlace* place = nullptr;  // until the model changes
  TopTimes window;
  TopTimes all;  // since the beginning
};

struct TopThread {
  uint32_t number = 0;  // the recorder's
  int32_t pid = 0;      // 0: not known
  int32_t tid = 0;
  std::string name;
  uint8_t state = 0;  // profile::StackState, of its last reading
  TopActivity window;
};

struct TopQuery {
  TopUnit unit = TopUnit::kFunction;
  TopColumn column = TopColumn::kOwnShare;
  bool reversed = false;                // smallest first
  std::optional<uint32_t> thread = {};  // TopThread::number; none: all
  size_t most_rows = std::numeric_limits<size_t>::max();
  std::string filter = {};  // part of name or file, without regard to the case of ASCII letters
};

class TopModel {
 public:
  explicit TopModel(const TopOptions& options) : options_(options) {}

  // Once, first.
  void Begin(const profile::StackMeta& meta);
  void PutProcess(const profile::Process& process);
  void Put(const profile::StackDelta& piece);
  // The beginning is now; the window stays.
  void Reset();

  bool has_begun() const { return has_begun_; }
  // How often Put was called.
  uint64_t windows() const { return windows_; }
  const TopOptions& options() const { return options_; }

  // Sorted by the column, then by the others and the name; the first of them.
  std::vector<TopRow> Rows(const TopQuery& query) const;
  // All that there are.
  size_t CountRows(const TopQuery& query) const;
  // Those that were alive at the end of the window, the oldest first.
  std::vector<TopThread> Threads() const;
  // Of all threads, ended ones included.
  const TopActivity& window_activity() const { return window_activity_; }
  const TopActivity& activity() const { return activity_; }
  // What a share of 1 is, in the window and since the beginning; of one thread, or all.
  int64_t WindowBasisNs(std::optional<uint32_t> thread) const;
  int64_t BasisNs(std::optional<uint32_t> thread) const;
  int64_t window_ns() const { return window_ns_; }
  int64_t elapsed_ns() const { return meta_.duration_ns - reset_.duration_ns; }
  // How the figures came to be, since the beginning: `samples` are those that count.
  profile::StackMeta Meta() const;
  // Places, since the beginning.
  uint64_t forgotten() const { return forgotten_; }

  const std::map<uint32_t, profile::Process>& processes() const { return processes_; }
  const TopPlaces& places() const { return places_; }

 private:
  struct Figures {
    TopTimes window;
    uint64_t in_window = 0;  // the number of the window that `window` is of
    TopTimes all;
  };
  // Of one thread, or of all.
  struct Sheet {
    std::unordered_map<TopPlaces::Id, Figures> places;
    int64_t window_ns = 0;  // that counted
    int64_t all_ns = 0;
  };
  struct Thread {
    TopThread figures;
    Sheet sheet;
    uint32_t process = 0;
    int64_t last_ns = 0;  // up to which it was seen
  };

  bool Counts(const profile::StackSample& sample) const;
  void BeginWindow(const profile::StackDelta& piece);
  void AddActivity(Thread& thread, const profile::StackSample& sample);
  void Charge(Thread& thread, const std::vector<std::pair<uint32_t, int64_t>>& weights);
  void Add(const TopPlaces::Visit& visit, Sheet& sheet) const;
  void ForgetEnded();
  void ForgetQuiet();
  void Forget(const std::set<TopPlaces::Id>& gone);
  TopTimes WindowOf(const Figures& figures) const;
  bool Matches(TopPlaces::Id place, const TopQuery& query) const;
  const Sheet* SheetOf(std::optional<uint32_t> thread) const;

  TopOptions options_;
  bool has_begun_ = false;
  uint64_t windows_ = 0;
  int64_t window_ns_ = 0;
  profile::StackMeta meta_;   // the recorder's, as of now
  profile::StackMeta reset_;  // as of the beginning
  uint64_t samples_ = 0;
  TopActivity window_activity_;
  TopActivity activity_;  // since the beginning
  uint64_t forgotten_ = 0;
  TopPlaces places_;
  std::map<uint32_t, profile::Process> processes_;
  std::map<uint32_t, Thread> threads_;
  Sheet all_;
};

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_TOP_MODEL_H_
