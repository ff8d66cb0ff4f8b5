#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/clock.h"
#include "probe/falling_maxima.h"
#include "probe/gpu.h"
#include "probe/pid_namespace.h"
#include "probe/readings.h"

namespace wf::probe {
namespace {

using profile::Figure;
using profile::Quality;

// The polling itself. In a forked child it must not be touched: its thread is not there, its lock may be held by it.
class Polling {
 public:
  Polling(std::unique_ptr<Nvml> nvml, std::vector<GpuDevice> devices, const GpuPollerOptions& options)
      : nvml_(std::move(nvml)),
        devices_(std::move(devices)),
        options_(options),
        initial_namespace_(InInitialPidNamespace(options.proc_root)),
        pids_{getpid()},
        thread_([this] { Loop(); }) {}
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

  ~Polling() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  void AddPid(int32_t pid) {
    std::lock_guard lock(mutex_);
    pids_.insert(pid);
  }

  void RemovePid(int32_t pid) {
    std::lock_guard lock(mutex_);
    pids_.erase(pid);
  }

  Figure PeakSince(int64_t start_ns) {
    std::lock_guard lock(mutex_);
    const bool polled = !poll_times_.empty() && poll_times_.back() >= start_ns;
    const bool enough = poll_times_.size() == kEnoughPolls && poll_times_.front() >= start_ns;
    Figure figure = FigureOf(polled ? sums_.Since(start_ns) : last_sum_);
    if (figure.present() && !enough) figure.quality = Quality::kEstimated;
    return figure;
  }

  std::vector<GpuUse> Now() {
    std::lock_guard lock(mutex_);
    return UsesOf(SumOf(last_));
  }

  std::vector<GpuUse> NowOf(int32_t pid) {
    std::lock_guard lock(mutex_);
    const auto at = last_.find(pid);
    return at == last_.end() ? std::vector<GpuUse>() : UsesOf(at->second);
  }

  const std::vector<GpuDevice>& devices() const { return devices_; }

 private:
  static constexpr size_t kEnoughPolls = 3;

  using Devices = std::map<int, int64_t>;        // bytes by device
  using Processes = std::map<int32_t, Devices>;  // by pid, one of pids_

  static Devices SumOf(const Processes& processes) {
    Devices sum;
    for (const auto& [pid, devices] : processes) {
      for (const auto& [device, bytes] : devices) sum[device] += bytes;
    }
    return sum;
  }

  std::vector<GpuUse> UsesOf(const Devices& devices) const {
    std::vector<GpuUse> uses;
    for (const auto& [device, bytes] : devices) uses.push_back({device, FigureOf(bytes)});
    return uses;
  }

  Figure FigureOf(std::optional<int64_t> bytes) const {
    return bytes ? Figure{*bytes, estimated_ ? Quality::kEstimated : Quality::kMeasured} : Figure{};
  }

  void Loop() {
    RegisterServiceThread();
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const std::set<int32_t> pids = pids_;
      lock.unlock();
      const Processes used = Poll(pids);
      const int64_t now = base::MonotonicNs();
      lock.lock();
      Keep(used, now);
      if (options_.on_poll) {
        lock.unlock();
        options_.on_poll();
        lock.lock();
      }
      wake_.wait_for(lock, std::chrono::nanoseconds(options_.interval_ns), [this] { return stop_; });
    }
  }

  Processes Poll(const std::set<int32_t>& pids) {
    Processes used;
    bool strangers = false;
    std::map<int32_t, int32_t> ours;  // every name of a process of ours -> its pid here
    for (const int32_t pid : pids) {
      for (const int32_t alias : WithOuterPids({pid}, options_.proc_root)) ours.emplace(alias, pid);
    }
    for (const int32_t pid : pids) ours[pid] = pid;
    for (const GpuProcess& process : nvml_->Processes()) {
      const auto found = ours.find(process.pid);
      if (found == ours.end()) {
        strangers = true;
      } else if (process.used_bytes) {
        used[found->second][process.device] += *process.used_bytes;
      }
    }
    falls_back_ = falls_back_ || (used.empty() && strangers && !initial_namespace_);
    if (used.empty() && falls_back_) {
      Devices grown = GrowthOfDevices();
      if (!grown.empty()) used[owner_pid_] = std::move(grown);
    }
    return used;
  }

  Devices GrowthOfDevices() {
    Devices grown;
    for (const GpuDevice& now : nvml_->Devices()) {
      for (const GpuDevice& before : devices_) {
        if (before.index != now.index || !before.used_bytes || !now.used_bytes) continue;
        if (*now.used_bytes > *before.used_bytes) grown[now.index] = *now.used_bytes - *before.used_bytes;
      }
    }
    return grown;
  }

  // REQUIRES: mutex_ held.
  void Keep(const Processes& used, int64_t now) {
    last_ = used;
    last_sum_.reset();
    estimated_ = falls_back_;
    poll_times_.push_back(now);
    if (poll_times_.size() > kEnoughPolls) poll_times_.pop_front();
    if (used.empty()) return;
    int64_t sum = 0;
    for (const auto& [device, bytes] : SumOf(used)) sum += bytes;
    last_sum_ = sum;
    sums_.Add(now, sum);
  }

  std::unique_ptr<Nvml> nvml_;  // called by thread_ only
  const std::vector<GpuDevice> devices_;
  const GpuPollerOptions options_;
  const bool initial_namespace_;
  const pid_t owner_pid_ = getpid();
  bool falls_back_ = false;  // of thread_

  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  bool stop_ = false;
  bool estimated_ = false;
  std::set<int32_t> pids_;
  Processes last_;
  std::optional<int64_t> last_sum_;
  std::deque<int64_t> poll_times_;  // the last few
  FallingMaxima sums_;

  std::thread thread_;  // last: it uses all of the above
};

class PollingThread final : public GpuPoller {
 public:
  explicit PollingThread(std::unique_ptr<Polling> polling) : polling_(polling.release()) {}
  PollingThread(const PollingThread&) = delete;
  PollingThread& operator=(const PollingThread&) = delete;
  ~PollingThread() override {
    if (!InForkedChild()) delete polling_;  // else leaked: see Polling
  }

  void AddPid(int32_t pid) override {
    if (!InForkedChild()) polling_->AddPid(pid);
  }
  void RemovePid(int32_t pid) override {
    if (!InForkedChild() && pid != owner_pid_) polling_->RemovePid(pid);
  }
  Figure PeakSince(int64_t start_ns) override { return InForkedChild() ? Figure{} : polling_->PeakSince(start_ns); }
  std::vector<GpuUse> Now() override { return InForkedChild() ? std::vector<GpuUse>() : polling_->Now(); }
  std::vector<GpuUse> NowOf(int32_t pid) override {
    return InForkedChild() ? std::vector<GpuUse>() : polling_->NowOf(pid);
  }
  std::vector<GpuDevice> Devices() const override { return polling_->devices(); }

 private:
  bool InForkedChild() const { return getpid() != owner_pid_; }

  const pid_t owner_pid_ = getpid();
  Polling* const polling_;  // owned
};

}  // namespace

Result<std::unique_ptr<GpuPoller>> GpuPoller::Start(const GpuPollerOptions& options) {
  auto nvml = Nvml::Open(options.library);
  if (!nvml.ok()) return nvml.status();
  std::vector<GpuDevice> devices = (*nvml)->Devices();
  if (devices.empty()) {
    return Status(Code::kUnavailable,
                  "no GPU figures: NVIDIA's driver is there, but it shows no device to this process");
  }
  return std::unique_ptr<GpuPoller>(
      std::make_unique<PollingThread>(std::make_unique<Polling>(std::move(nvml).value(), std::move(devices), options)));
}

}  // namespace wf::probe
