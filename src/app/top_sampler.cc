#include "app/top_sampler.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace wf::app {
namespace {

// The model decides what counts; threads that wait are listed in any case.
RecordOptions WithAllTime(RecordOptions options) {
  options.idle = true;
  options.mode = profile::SampleMode::kWall;
  return options;
}

}  // namespace

TopSampler::TopSampler(int32_t pid, const RecordOptions& sampling, const analysis::TopOptions& shown)
    : news_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      model_(shown),
      session_(pid, WithAllTime(sampling), [this] { return is_stopped_.load(); }, this) {}

TopSampler::~TopSampler() { Stop(); }

void TopSampler::Start() {
  is_running_ = true;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread begins with the mask of its maker
  thread_ = std::thread([this] { Run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void TopSampler::Run() {
  session_.Run();
  if (session_.saw_python()) (void)session_.Finish();
  is_running_ = false;
  TellNews();
}

void TopSampler::TellNews() {
  const uint64_t one = 1;
  (void)!::write(news_.get(), &one, sizeof(one));
}

void TopSampler::WaitForNews(int timeout_ms) {
  pollfd news = {news_.get(), POLLIN, 0};
  ::poll(&news, 1, timeout_ms);
  uint64_t count = 0;
  (void)!::read(news_.get(), &count, sizeof(count));
}

void TopSampler::Stop() {
  is_stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

void TopSampler::Look(const std::function<void(analysis::TopModel&)>& look) {
  const std::lock_guard lock(mutex_);
  look(model_);
}

void TopSampler::Begin(const profile::StackMeta& meta) {
  Look([&](analysis::TopModel& model) { model.Begin(meta); });
}

void TopSampler::PutProcess(const profile::Process& process) {
  Look([&](analysis::TopModel& model) { model.PutProcess(process); });
}

void TopSampler::PutStacks(profile::StackDelta stacks) {
  Look([&](analysis::TopModel& model) { model.Put(stacks); });
  TellNews();
}

}  // namespace wf::app
