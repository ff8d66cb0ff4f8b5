// TopSampler: samples a process in a thread of its own, into a model that anybody may look at meanwhile.
//
//   TopSampler sampler(pid, sampling, shown);
//   WF_RETURN_IF_ERROR(sampler.Attach());   // unless the program was just started
//   sampler.Start();
//   sampler.WaitForNews(timeout_ms);
//   sampler.Look([&](TopModel& model) { … });
//   sampler.Stop();
//
// The thread takes no signals: they are for whoever waits for keys.
//
// Threading: all but the sink's part by one thread.
#ifndef WF_APP_TOP_SAMPLER_H_
#define WF_APP_TOP_SAMPLER_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/top_model.h"
#include "app/record_session.h"
#include "base/fd.h"
#include "wf/status.h"

namespace wf::app {

class TopSampler final : private RecordSink {
 public:
  // A window is `sampling.piece_ns` long. What `shown` leaves out is sampled all the same.
  TopSampler(int32_t pid, const RecordOptions& sampling, const analysis::TopOptions& shown);
  ~TopSampler() override;
  TopSampler(const TopSampler&) = delete;
  TopSampler& operator=(const TopSampler&) = delete;

  // The errors of RecordSession::Attach. REQUIRES: not started.
  Status Attach() { return session_.Attach(); }
  // Once.
  void Start();
  // False when there is nothing more to come: the process ended, or after Stop.
  bool is_running() const { return is_running_; }
  // The last window, however short, is in when it returns.
  void Stop();

  // RecordSession::not_paused and NativeNote. REQUIRES: stopped.
  const std::string& not_paused() const { return session_.not_paused(); }
  std::string NativeNote() const { return session_.NativeNote(); }

  // Can be read when there was another window, or the end, since the last WaitForNews; -1: the system has no room.
  int news() const { return news_.get(); }
  // So long at most; less when a signal comes.
  void WaitForNews(int timeout_ms);

  // Nothing is added to the model until `look` returns; it may reset the model.
  void Look(const std::function<void(analysis::TopModel&)>& look);

 private:
  void Begin(const profile::StackMeta& meta) override;
  void PutProcess(const profile::Process& process) override;
  void PutStacks(profile::StackDelta stacks) override;
  void Run();
  void TellNews();

  const base::Fd news_;
  std::mutex mutex_;
  analysis::TopModel model_;  // under mutex_
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> is_running_ = false;
  RecordSession session_;  // the thread's, once it runs
  std::thread thread_;
};

}  // namespace wf::app

#endif  // WF_APP_TOP_SAMPLER_H_
