#include "net/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <ctime>

#include "net/response_writer.h"
#include "net/token.h"

namespace wf::net {

std::thread StartQuietThread(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

WorkerPool::WorkerPool(int workers, std::string token, Handler* handler, std::function<void()> wake)
    : token_(std::move(token)), handler_(handler), wake_(std::move(wake)) {
  for (int i = 0; i < workers; ++i) threads_.push_back(StartQuietThread([this] { Work(); }));
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Put(uint64_t connection, Request request) {
  {
    const std::lock_guard guard(mutex_);
    jobs_.push_back(Job{connection, std::move(request)});
  }
  ready_.notify_one();
}

std::vector<Finished> WorkerPool::TakeFinished() {
  const std::lock_guard guard(mutex_);
  return std::exchange(finished_, {});
}

void WorkerPool::Work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    const ReplyTo to{job.request.method, job.request.headers.Get("Accept-Encoding"), job.request.keep_alive};
    Finished finished{job.connection, WriteResponse(Answer(job.request), to, std::time(nullptr)), to.keep_alive};
    {
      const std::lock_guard guard(mutex_);
      finished_.push_back(std::move(finished));
    }
    wake_();
  }
}

Response WorkerPool::Answer(const Request& request) {
  if (!token_.empty() && !CarriesToken(request.headers.Get("Authorization"), token_)) {
    Response response = Response::Text(401, "this server needs its token: send Authorization: Bearer <token>");
    response.headers.Add("WWW-Authenticate", "Bearer");
    return response;
  }
  try {
    return handler_->Handle(request);
  } catch (...) {  // a handler must not throw; if one does, the program that embeds us goes on
    return Response::Text(500, "the handler of this page failed; please report it");
  }
}

}  // namespace wf::net
