// The thread's side of RunWriterThread.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "store/run_writer_thread.h"

namespace wf::store {
namespace {

constexpr auto kFlushInterval = std::chrono::milliseconds(500);
// Another process holds the store: quiet for so long, since the rows are only late.
constexpr int64_t kQuietBusyNs = 30'000'000'000;

}  // namespace

void RunWriterThread::Loop() {
  prctl(PR_SET_NAME, "wf-store");
  // Signals belong to the user's threads; and SIGXFSZ, blocked, becomes an error of the write instead of an end.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) {
    uint64_t target = 0;
    bool is_last = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kFlushInterval, [this] { return HasWork(); });
      target = flush_wanted_;
      is_last = closing_;
    }
    FlushOnce();
    if (is_last) Finish();
    const std::lock_guard lock(mutex_);
    flush_done_ = target;
    if (is_last) {
      flush_done_ = flush_wanted_;
      final_cpu_ns_ = base::ThreadCpuNs();
      closed_ = true;
    }
    done_.notify_all();
    if (is_last) return;
  }
}

void RunWriterThread::Take() {
  const std::lock_guard lock(mutex_);
  wake_early_ = false;
  if (disk_->pending.empty()) {
    std::swap(disk_->pending, front_);  // both keep their memory
  } else {
    disk_->pending.Append(std::move(front_));
  }
  held_runs_bytes_ = disk_->pending.runs_bytes;
  held_file_bytes_ = disk_->pending.file_bytes;
  disk_->names.insert(disk_->names.end(), names_.begin() + static_cast<ptrdiff_t>(disk_->names.size()), names_.end());
}

Status RunWriterThread::WritePending(std::vector<Request>* requests) {
  Batch& pending = disk_->pending;
  const Status runs = disk_->runs ? disk_->runs->Write(pending, LostRows(), requests) : Status();
  if (runs.ok()) {
    pending.ClearRuns();
  } else {
    pending.Compact();  // what has to wait should not wait twice
  }
  // Each file for itself: a full disk may still have room for the small one.
  const Status file = disk_->file.Write(pending, disk_->names);
  if (file.ok()) pending.ClearFile();
  return runs.ok() ? file : runs;
}

void RunWriterThread::FlushOnce() {
  std::function<void()> before;
  std::function<void(const Request&)> on_request;
  {
    const std::lock_guard lock(mutex_);
    before = before_flush_;
    on_request = on_request_;
  }
  if (before) before();
  Take();
  std::vector<Request> requests;
  const Status status = WritePending(&requests);
  {
    const std::lock_guard lock(mutex_);
    held_runs_bytes_ = disk_->pending.runs_bytes;
    held_file_bytes_ = disk_->pending.file_bytes;
    if (!status.ok() && error_.ok()) error_ = status;
  }
  Report(status);
  if (!on_request) return;
  for (const Request& request : requests) on_request(request);
}

void RunWriterThread::Report(const Status& status) {
  if (status.ok() || !IsBusy(status)) {
    disk_->busy_since_ns = 0;
  } else if (disk_->busy_since_ns == 0) {
    disk_->busy_since_ns = base::MonotonicNs();
  }
  const bool is_quiet = IsBusy(status) && base::MonotonicNs() - disk_->busy_since_ns < kQuietBusyNs;
  if (status.ok() || is_quiet || disk_->told) return;
  std::function<void(const Status&)> on_error;
  {
    const std::lock_guard lock(mutex_);
    on_error = on_error_;
  }
  if (!on_error) return;
  disk_->told = true;
  on_error(status);
}

void RunWriterThread::Finish() {
  const size_t unwritten = disk_->pending.runs_rows() + disk_->pending.file_rows();
  lost_rows_.fetch_add(unwritten, std::memory_order_relaxed);
  base::RunState state{};
  {
    const std::lock_guard lock(mutex_);
    state = run_state_;
  }
  if (disk_->runs && !base::IsFinal(state)) (void)disk_->runs->MarkClosed();
  disk_.reset();  // closes the files; the last one to do so folds the WAL into the database
}

}  // namespace wf::store
