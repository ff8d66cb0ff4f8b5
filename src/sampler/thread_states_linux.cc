#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "sampler/thread_states.h"

namespace wf::sampler {
namespace {

// Not all of them in one round.
int64_t DueAfter(int64_t now_ns, int32_t tid) {
  constexpr int64_t kHalf = ThreadStates::kLateNs / 2;
  return now_ns + kHalf + int64_t{tid} * 7'919 * 1'000 % kHalf;
}

}  // namespace

std::string ThreadStates::PathOf(int32_t tid, const char* name) const {
  return "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(tid) + "/" + name;
}

bool ThreadStates::CanTellCpu() { return access("/proc/thread-self/schedstat", R_OK) == 0; }

bool ThreadStates::Exists(int32_t tid) const { return tid > 0 && access(PathOf(tid, "stat").c_str(), F_OK) == 0; }

base::Fd ThreadStates::Open(int32_t tid, const char* name) {
  const std::string path = PathOf(tid, name);
  base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.valid() || errno != EMFILE) return file;
  for (auto& [other, known] : known_) CloseAll(known);
  return base::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

void ThreadStates::Close(base::Fd* file) {
  if (file->valid()) --open_;
  *file = base::Fd();
}

void ThreadStates::CloseAll(Known& known) {
  for (base::Fd* file : {&known.schedule, &known.call, &known.stat}) Close(file);
}

void ThreadStates::Forget(int32_t tid) {
  const auto known = known_.find(tid);
  if (known == known_.end()) return;
  CloseAll(known->second);
  known_.erase(known);
}

// One pread on a descriptor that stays open: a third of the cost of opening the file each time.
std::string_view ThreadStates::ReadFile(int32_t tid, const char* name, base::Fd* kept) {
  base::Fd opened = kept->valid() ? base::Fd() : Open(tid, name);
  const ssize_t got = pread(kept->valid() ? kept->get() : opened.get(), text_, sizeof(text_), 0);
  if (got <= 0) {
    Close(kept);
    return {};
  }
  if (opened.valid() && open_ < kMostOpen) {
    *kept = std::move(opened);
    ++open_;
  }
  return {text_, static_cast<size_t>(got)};
}

char ThreadStates::StateOf(int32_t tid, Known& known) {
  const std::string_view line = ReadFile(tid, "stat", &known.stat);
  const size_t end = line.rfind(')');  // the name before it may itself hold parentheses
  return end == std::string_view::npos || end + 2 >= line.size() ? '?' : line[end + 2];
}

char ThreadStates::State(int32_t tid) {
  if (tid <= 0) return '?';
  Known& known = known_[tid];
  const char state = StateOf(tid, known);
  known.may_have_run = true;
  if (state == '?') Forget(tid);
  return state;
}

// On a busy machine the threads that a stop woke stand in line for a CPU.
char ThreadStates::StateBeforeStop(int32_t tid) {
  constexpr int64_t kOnlyWokenNs = 100'000;
  char state = State(tid);
  if (state == '?') return state;
  Known& known = known_[tid];
  const int64_t before_ns = known.cpu_ns;
  const int64_t ran_ns = CpuNs(tid) - before_ns;
  const bool waited = known.before_stop != '?' && known.before_stop != 'R';
  if (waited && state == 'R' && ran_ns < kOnlyWokenNs) state = known.before_stop;
  known.before_stop = state;
  return state;
}

// The first and the third number of "schedstat". False where the kernel does not count.
bool ThreadStates::ReadSchedule(int32_t tid, Known& known, uint64_t* cpu_ns, uint64_t* runs) {
  const std::string_view line = ReadFile(tid, "schedstat", &known.schedule);
  const size_t last = line.rfind(' ');
  if (last == std::string_view::npos) return false;
  std::from_chars(line.data(), line.data() + line.size(), *cpu_ns);
  std::from_chars(line.data() + last + 1, line.data() + line.size(), *runs);
  return true;
}

uint64_t ThreadStates::Runs(int32_t tid, Known& known) {
  uint64_t cpu_ns = 0;
  uint64_t runs = 0;
  (void)ReadSchedule(tid, known, &cpu_ns, &runs);
  return runs;
}

int64_t ThreadStates::CpuNs(int32_t tid) {
  if (tid <= 0) return 0;
  Known& known = known_[tid];
  if (!std::exchange(known.may_have_run, false)) return known.cpu_ns;
  uint64_t cpu_ns = 0;
  uint64_t runs = 0;
  if (ReadSchedule(tid, known, &cpu_ns, &runs)) known.cpu_ns = static_cast<int64_t>(cpu_ns);
  return known.cpu_ns;
}

// "syscall" says "running" of a thread that runs or could, and where it waits of any other.
char ThreadStates::RunsNow(int32_t tid, Known& known) {
  const std::string_view line = ReadFile(tid, "syscall", &known.call);
  if (!line.empty()) return line.starts_with("running") ? 'R' : 'S';
  const char state = StateOf(tid, known);  // the kernel has no such file, or does not let us read it
  return state == '?' || state == 'R' ? state : 'S';
}

char ThreadStates::Activity(int32_t tid, bool ran_no_python, int64_t now_ns) {
  if (tid <= 0) return '?';
  Known& known = known_[tid];
  const bool slept = known.waits && ran_no_python;
  if (slept && now_ns < known.due_ns) return 'S';
  known.due_ns = DueAfter(now_ns, tid);
  if (slept && known.runs != 0 && Runs(tid, known) == known.runs) return 'S';
  known.may_have_run = true;
  char now = RunsNow(tid, known);
  if (now == 'S' && !slept) known.runs = 0;
  if (now == 'S' && ran_no_python) {
    // The count is taken before the state, so that a run after it shows next time.
    known.runs = Runs(tid, known);
    now = RunsNow(tid, known);
    if (now == 'S') Close(&known.call);  // the other one will do for long
  }
  known.waits = now == 'S';
  if (now == '?') Forget(tid);
  return now;
}

char ThreadStates::Ran(int32_t tid) {
  Known& known = known_[tid];
  known.waits = false;
  known.may_have_run = true;
  return 'R';
}

void ThreadStates::KeepOnly(const std::vector<int32_t>& tids) {
  if (known_.size() <= tids.size()) return;  // few of them can have ended: not worth the search
  for (const int32_t tid : tids) {
    if (const auto found = known_.find(tid); found != known_.end()) found->second.is_kept = true;
  }
  for (auto entry = known_.begin(); entry != known_.end();) {
    if (std::exchange(entry->second.is_kept, false)) {
      ++entry;
    } else {
      CloseAll(entry->second);
      entry = known_.erase(entry);
    }
  }
}

}  // namespace wf::sampler
