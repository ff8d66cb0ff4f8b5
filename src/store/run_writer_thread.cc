#include "store/run_writer_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"

namespace wf::store {
namespace {

// Bounds of what waits in memory. Logs and series have less: they are what is dropped first.
constexpr size_t kMostRunsBytes = size_t{96} << 20;
constexpr size_t kMostFileBytes = size_t{32} << 20;
// So many are written at once instead of at the next half second: memory that is used again stays in the cache.
constexpr size_t kWakeBytes = size_t{1} << 20;

}  // namespace

RunWriterThread::RunWriterThread(std::optional<RunsDbWriter> runs, RunFileWriter file, base::RunState state)
    : owner_pid_(getpid()),
      disk_(std::make_unique<Disk>(Disk{std::move(runs), std::move(file), {}, {}, 0, false})),
      run_state_(state),
      thread_([this] { Loop(); }) {}

void RunWriterThread::operator delete(RunWriterThread* self, std::destroying_delete_t) {
  if (self->IsForkedChild()) return;
  self->~RunWriterThread();
  ::operator delete(self, sizeof(RunWriterThread));
}

bool RunWriterThread::IsForkedChild() const { return getpid() != owner_pid_; }

bool RunWriterThread::AdmitRuns(size_t bytes, size_t rows) {
  if (closing_) return false;
  if (front_.runs_bytes + held_runs_bytes_ + bytes > kMostRunsBytes) {
    lost_rows_.fetch_add(rows, std::memory_order_relaxed);
    return false;
  }
  front_.runs_bytes += bytes;
  if (front_.runs_bytes > kWakeBytes && !wake_early_ && held_runs_bytes_ == 0) {
    wake_early_ = true;
    wake_.notify_one();
  }
  return true;
}

bool RunWriterThread::AdmitFile(size_t bytes, size_t rows) {
  if (closing_) return false;
  if (front_.file_bytes + held_file_bytes_ + bytes > kMostFileBytes) {
    lost_rows_.fetch_add(rows, std::memory_order_relaxed);
    return false;
  }
  front_.file_bytes += bytes;
  return true;
}

void RunWriterThread::PutProcess(profile::Process process) {
  const std::lock_guard lock(mutex_);
  if (AdmitRuns(BytesOf(process), 1)) front_.processes.push_back(std::move(process));
}

void RunWriterThread::PutTask(profile::Task task) {
  const std::lock_guard lock(mutex_);
  if (AdmitRuns(BytesOf(task), 1)) front_.tasks.push_back(std::move(task));
}

void RunWriterThread::PutNode(const profile::Node& node) {
  const std::lock_guard lock(mutex_);
  if (AdmitRuns(BytesOf(node), 1)) front_.nodes.push_back(node);
}

void RunWriterThread::PutEdges(const profile::Edge* edges, size_t count) {
  const std::lock_guard lock(mutex_);
  if (!AdmitRuns(sizeof(*edges) * count, count)) return;
  for (size_t i = 0; i < count; ++i) front_.edges.push_back(edges[i]);
}

void RunWriterThread::PutAttempt(const profile::Attempt& attempt) {
  const std::lock_guard lock(mutex_);
  if (AdmitRuns(BytesOf(attempt), 1)) front_.attempts.push_back(attempt);
}

void RunWriterThread::AddLog(profile::LogLine line) {
  const std::lock_guard lock(mutex_);
  if (AdmitFile(sizeof(line) + line.text.size())) front_.logs.push_back(std::move(line));
}

void RunWriterThread::PutSeries(const std::string& name, const profile::SeriesPoint& point) {
  const std::lock_guard lock(mutex_);
  if (!AdmitFile(sizeof(SeriesRow))) return;
  const auto [at, is_new] = name_numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  front_.series.push_back({at->second, point});
}

void RunWriterThread::PutStacks(profile::StackDelta stacks) {
  const std::lock_guard lock(mutex_);
  if (closing_) return;
  // Later samples need the names, frames and threads of this piece, whatever becomes of its samples.
  if (!AdmitFile(stacks.bytes(), stacks.samples.size())) stacks.samples.clear();
  if (front_.stacks) {
    front_.stacks->Append(std::move(stacks));
  } else {
    front_.stacks = std::move(stacks);
  }
}

void RunWriterThread::PutRun(const profile::Run& run) {
  const std::lock_guard lock(mutex_);
  if (closing_) return;
  front_.run = run;
  run_state_ = run.state;
}

void RunWriterThread::SetBeforeFlush(std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  before_flush_ = std::move(hook);
}

void RunWriterThread::SetOnRequest(std::function<void(const Request&)> hook) {
  const std::lock_guard lock(mutex_);
  on_request_ = std::move(hook);
}

void RunWriterThread::SetOnError(std::function<void(const Status&)> hook) {
  const std::lock_guard lock(mutex_);
  on_error_ = std::move(hook);
}

Status RunWriterThread::Flush() {
  if (IsForkedChild()) return {Code::kFailedPrecondition, "a forked child cannot write to the run of its parent"};
  if (std::this_thread::get_id() == thread_.get_id())
    return {Code::kInternal, "Flush was called from a hook of the writer"};
  std::unique_lock lock(mutex_);
  if (closed_) return {Code::kFailedPrecondition, "the run is closed"};
  const uint64_t mine = ++flush_wanted_;
  wake_.notify_one();
  done_.wait(lock, [&] { return flush_done_ >= mine; });
  return std::exchange(error_, Status());
}

Status RunWriterThread::Close() {
  if (IsForkedChild()) return {Code::kFailedPrecondition, "a forked child cannot close the run of its parent"};
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || closing_) return {};
    closing_ = true;
    wake_.notify_one();
  }
  thread_.join();
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, Status());
}

int64_t RunWriterThread::ThreadCpuNs() const {
  const std::lock_guard lock(mutex_);
  clockid_t clock{};
  // The handle is good until the thread is joined, and that only begins once closed_ was set below the same mutex.
  if (closed_ || pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0)
    return final_cpu_ns_;
  return base::ReadClockNs(clock);
}

}  // namespace wf::store
