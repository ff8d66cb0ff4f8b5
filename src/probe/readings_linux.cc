#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "probe/own_io.h"
#include "probe/proc_text.h"
#include "probe/process_state.h"
#include "probe/readings.h"

namespace wf::probe {
namespace {

int OpenProc(const char* path) { return open(path, O_RDONLY | O_CLOEXEC); }

// Opens `path` once per process; -1 when it cannot be.
int ProcessFd(std::atomic<int>* cached, const char* path) {
  int fd = cached->load(std::memory_order_acquire);
  if (fd != ProcessState::kUnopened) return fd;
  const int fresh = OpenProc(path);
  if (cached->compare_exchange_strong(fd, fresh, std::memory_order_acq_rel)) return fresh;
  if (fresh >= 0) close(fresh);  // another thread was faster
  return fd;
}

int64_t MicrosToNs(const timeval& time) { return (int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000; }

// `own` by value: reading the file adds to it, and what the file says was true before.
IoTotals ReadIo(int fd, OwnIoTotals own) {
  char buffer[512];
  const std::string_view text = ReadStart(fd, buffer, sizeof buffer);
  IoTotals io;
  const int64_t read = FieldNumber(text, "rchar:", kAbsent);
  const int64_t written = FieldNumber(text, "wchar:", kAbsent);
  if (read < 0 || written < 0) return io;
  io.read_bytes = read - own.read_bytes;
  io.write_bytes = written - own.write_bytes;
  io.device_read_bytes = FieldNumber(text, "read_bytes:", kAbsent);
  io.device_write_bytes = FieldNumber(text, "write_bytes:", kAbsent);
  return io;
}

// Gives `use` an open file of this thread. Each listed thread keeps its files open, up to a number that leaves the
// program its descriptors.
template <typename Use>
auto WithThreadFile(ThreadState* thread, ThreadFile file, const char* path, const Use& use) {
  constexpr int kMostKeepers = 64;
  if (thread->slot >= 0 && thread->slot < kMostKeepers) {
    int& kept = thread->fds[static_cast<size_t>(file)];
    if (kept == ProcessState::kUnopened) {
      kept = OpenProc(path);
      g_process.threads.KeepFd(thread->slot, file, kept);
    }
    return use(kept);
  }
  const base::Fd fd(OpenProc(path));
  return use(fd.get());
}

IoTotals ReadThreadIo(ThreadState* thread) {
  return WithThreadFile(thread, ThreadFile::kIo, "/proc/thread-self/io",
                        [](int fd) { return ReadIo(fd, OwnIo::thread); });
}

// The second number of a schedstat file: time spent on a run queue, in nanoseconds (kernel's sched-stats.rst).
int64_t ReadThreadCpuWait(ThreadState* thread) {
  return WithThreadFile(thread, ThreadFile::kSchedstat, "/proc/thread-self/schedstat", [](int fd) {
    char buffer[128];
    const std::string_view text = ReadStart(fd, buffer, sizeof buffer);
    size_t used = 0;
    if (ParseNumber(text, -1, &used) < 0) return kAbsent;
    return ParseNumber(text.substr(used), kAbsent);
  });
}

int64_t MaxRssBytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t{usage.ru_maxrss} * 1024 : kAbsent;
}

}  // namespace

FullReading FullReading::Now() {
  ThreadState& thread = CurrentThread();
  FullReading reading;
  reading.wall_ns = base::MonotonicNs();
  reading.thread_cpu_ns = base::ThreadCpuNs();
  reading.process_cpu_ns = base::ProcessCpuNs();
  const ThreadRegistry::Sums sums = g_process.threads.Read();
  reading.service_cpu_ns = sums.service_ns;
  reading.attempt_threads_cpu_ns = sums.attempts_ns;
  rusage children{};
  if (getrusage(RUSAGE_CHILDREN, &children) == 0) {
    reading.children_cpu_ns = MicrosToNs(children.ru_utime) + MicrosToNs(children.ru_stime);
  }
  if (!g_process.high_water.resettable()) {
    reading.max_rss_bytes = MaxRssBytes();
    reading.rss_bytes = ResidentBytes();
  }
  reading.process_io = ReadIo(ProcessFd(&g_process.io_fd, "/proc/self/io"), OwnIo::Process());
  reading.thread_io = ReadThreadIo(&thread);
  reading.thread_cpu_wait_ns = ReadThreadCpuWait(&thread);
  return reading;
}

int64_t ResidentBytes() {
  CurrentThread();  // makes sure that a forked child opens its own file
  char buffer[128];
  const std::string_view text = ReadStart(ProcessFd(&g_process.statm_fd, "/proc/self/statm"), buffer, sizeof buffer);
  size_t used = 0;
  if (ParseNumber(text, -1, &used) < 0) return kAbsent;
  const int64_t pages = ParseNumber(text.substr(used), -1);
  static const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  return pages < 0 || pages > INT64_MAX / page_bytes ? kAbsent : pages * page_bytes;
}

void RegisterServiceThread() { ListThread(&CurrentThread(), ThreadRole::kService); }
void RegisterAttemptThread() { ListThread(&CurrentThread(), ThreadRole::kAttempt); }

}  // namespace wf::probe
