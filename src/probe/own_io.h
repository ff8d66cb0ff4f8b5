// OwnIo counts the bytes that the profiler itself moves through read and write calls while it measures, since the
// kernel counts them as the process's: readings subtract them, so that a task that reads nothing shows nothing.
#ifndef WF_PROBE_OWN_IO_H_
#define WF_PROBE_OWN_IO_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace wf::probe {

struct OwnIoTotals {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;
};

struct OwnIo {
  static void CountRead(ssize_t bytes) {
    if (bytes <= 0) return;
    thread.read_bytes += bytes;
    process_read_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  static void CountWrite(ssize_t bytes) {
    if (bytes <= 0) return;
    thread.write_bytes += bytes;
    process_write_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  static OwnIoTotals Process() {
    return {process_read_bytes.load(std::memory_order_relaxed), process_write_bytes.load(std::memory_order_relaxed)};
  }
  // The kernel's counters of a forked child start at zero.
  static void ResetInChild() {
    thread = {};
    process_read_bytes.store(0, std::memory_order_relaxed);
    process_write_bytes.store(0, std::memory_order_relaxed);
  }

  static inline constinit thread_local OwnIoTotals thread{};

 private:
  static inline constinit std::atomic<int64_t> process_read_bytes{0};
  static inline constinit std::atomic<int64_t> process_write_bytes{0};
};

}  // namespace wf::probe

#endif  // WF_PROBE_OWN_IO_H_
