// RunWriterThread: the RunWriter that writes to disk: a bounded buffer in front of a thread with two SQLite files.
#ifndef WF_STORE_RUN_WRITER_THREAD_H_
#define WF_STORE_RUN_WRITER_THREAD_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/batch.h"
#include "store/run_file.h"
#include "store/run_writer.h"
#include "store/runs_db_writer.h"

namespace wf::store {

class RunWriterThread final : public RunWriter {
 public:
  // The thread starts here. `runs`: none for a guest, which writes to the run's own file only. `state`: that of the
  // run's row as it was inserted.
  RunWriterThread(std::optional<RunsDbWriter> runs, RunFileWriter file, base::RunState state);
  ~RunWriterThread() override { (void)Close(); }
  // In a forked child the object is left as it lies: its thread is not there, another thread may have been at work on
  // the members, and closing the files would disturb what the parent writes.
  static void* operator new(size_t size) { return ::operator new(size); }  // its pair, or GCC sees a mismatch
  static void operator delete(RunWriterThread* self, std::destroying_delete_t);
  RunWriterThread(const RunWriterThread&) = delete;
  RunWriterThread& operator=(const RunWriterThread&) = delete;

  void PutProcess(profile::Process process) override;
  void PutTask(profile::Task task) override;
  void PutNode(const profile::Node& node) override;
  void PutEdges(const profile::Edge* edges, size_t count) override;
  void PutAttempt(const profile::Attempt& attempt) override;
  void AddLog(profile::LogLine line) override;
  void PutSeries(const std::string& name, const profile::SeriesPoint& point) override;
  void PutStacks(profile::StackDelta stacks) override;
  void PutRun(const profile::Run& run) override;
  void SetBeforeFlush(std::function<void()> hook) override;
  void SetOnRequest(std::function<void(const Request&)> hook) override;
  void SetOnError(std::function<void(const Status&)> hook) override;
  Status Flush() override;
  Status Close() override;
  uint64_t LostRows() const override { return lost_rows_.load(std::memory_order_relaxed); }
  int64_t ThreadCpuNs() const override;

 private:
  // What only the thread touches once it runs.
  struct Disk {
    std::optional<RunsDbWriter> runs;
    RunFileWriter file;
    Batch pending;  // taken from the buffer, not yet written
    std::vector<std::string> names;
    int64_t busy_since_ns = 0;
    bool told = false;  // on_error was called
  };

  // Whether a row of so many bytes may be kept; counts it as lost otherwise. REQUIRES: mutex_ held.
  bool AdmitRuns(size_t bytes, size_t rows);
  bool AdmitFile(size_t bytes, size_t rows = 1);
  void Loop();
  void FlushOnce();
  void Take();
  Status WritePending(std::vector<Request>* requests);
  void Report(const Status& status);
  void Finish();
  bool IsForkedChild() const;
  bool HasWork() const { return flush_wanted_ != flush_done_ || closing_ || wake_early_; }

  const int owner_pid_;
  std::unique_ptr<Disk> disk_;
  std::atomic<uint64_t> lost_rows_{0};

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::condition_variable done_;
  Batch front_;
  size_t held_runs_bytes_ = 0;  // of Disk::pending, as of the last flush
  size_t held_file_bytes_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> name_numbers_;
  std::function<void()> before_flush_;
  std::function<void(const Request&)> on_request_;
  std::function<void(const Status&)> on_error_;
  Status error_;  // first since the last Flush
  base::RunState run_state_;
  uint64_t flush_wanted_ = 0;
  uint64_t flush_done_ = 0;
  bool wake_early_ = false;
  bool closing_ = false;
  bool closed_ = false;
  int64_t final_cpu_ns_ = 0;

  std::thread thread_;
};

}  // namespace wf::store

#endif  // WF_STORE_RUN_WRITER_THREAD_H_
