// WorkerPool: the threads that run the handler, between two queues. Internal to this room.
#ifndef WF_NET_WORKER_POOL_H_
#define WF_NET_WORKER_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/http.h"

namespace wf::net {

struct Finished {
  uint64_t connection = 0;
  std::string bytes;
  bool keep_alive = false;
};

class WorkerPool {
 public:
  // `token`: see ServerOptions. `wake` is called by a worker after each answer. Threads start at once.
  WorkerPool(int workers, std::string token, Handler* handler, std::function<void()> wake);
  ~WorkerPool();  // waits for handlers that run; requests not begun are dropped

  // Bounded by the number of connections: each has one request under way at most.
  void Put(uint64_t connection, Request request);
  std::vector<Finished> TakeFinished();

 private:
  struct Job {
    uint64_t connection = 0;
    Request request;
  };
  void Work();
  Response Answer(const Request& request);

  const std::string token_;
  Handler* const handler_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;            // guarded by mutex_
  std::vector<Finished> finished_;  // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  std::vector<std::thread> threads_;
};

// Starts a thread that receives no signals: they belong to the program that embeds us.
std::thread StartQuietThread(std::function<void()> body);

}  // namespace wf::net

#endif  // WF_NET_WORKER_POOL_H_
