#include "net/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "net/connection.h"
#include "net/listener.h"
#include "net/worker_pool.h"

namespace wf::net {
namespace {

int64_t NowMs() { return base::MonotonicNs() / 1'000'000; }

// The listening sockets of this process, for the child of a fork to close. Never destroyed.
struct Listening {
  std::mutex mutex;
  std::vector<int> fds;  // guarded by mutex
};

Listening& TheListening() {
  static Listening* const listening = new Listening();
  static const int kInstalled =
      pthread_atfork([] { TheListening().mutex.lock(); }, [] { TheListening().mutex.unlock(); },
                     [] {
                       for (int fd : TheListening().fds) close(fd);
                       TheListening().fds.clear();
                       TheListening().mutex.unlock();
                     });
  static_cast<void>(kInstalled);
  return *listening;
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Listener listener, base::Fd wake, Handler* handler)
      : options_(std::move(options)),
        listener_(std::move(listener)),
        wake_(std::move(wake)),
        pool_(std::make_unique<WorkerPool>(options_.limits.workers, options_.token, handler, [this] { Wake(); })) {
    {
      const std::lock_guard guard(TheListening().mutex);
      TheListening().fds.push_back(listener_.fd.get());
    }
    loop_ = StartQuietThread([this] { Loop(); });
  }

  ~Impl() { Stop(); }

  void Stop() {
    if (!loop_.joinable()) return;
    stopping_ = true;
    Wake();
    loop_.join();
    pool_.reset();
    connections_.clear();
    const std::lock_guard guard(TheListening().mutex);
    std::erase(TheListening().fds, listener_.fd.get());
    listener_.fd.Reset(-1);
  }

  // In the child of a fork: nothing of it may be touched.
  bool of_this_process() const { return pid_ == getpid(); }
  int port() const { return listener_.port; }
  std::string url() const { return "http://" + HostAndPort(listener_.address, listener_.port); }

 private:
  using Step = Connection::Step;

  void Wake() const {
    const uint64_t one = 1;
    static_cast<void>(!write(wake_.get(), &one, sizeof one));  // full means that a wake-up is pending already
  }

  void Loop() {
    while (!stopping_) {
      polled_.clear();
      ids_.clear();
      polled_.push_back({wake_.get(), POLLIN, 0});
      const bool room = connections_.size() < options_.limits.connections && NowMs() >= accept_again_ms_;
      polled_.push_back({room ? listener_.fd.get() : -1, POLLIN, 0});
      for (const auto& [id, connection] : connections_) {
        if (connection.wanted_events() == 0) continue;
        polled_.push_back({connection.fd(), connection.wanted_events(), 0});
        ids_.push_back(id);
      }
      poll(polled_.data(), polled_.size(), TimeoutMs());
      if (stopping_) return;
      if (polled_[0].revents != 0) TakeFinished();
      for (size_t i = 0; i < ids_.size(); ++i) OnEvents(ids_[i], polled_[i + 2].revents);
      if (polled_[1].revents != 0) Accept();
      ExpireConnections();
    }
  }

  // Until the next deadline; bounded, so that nothing depends on a wake-up that was lost.
  int TimeoutMs() const {
    int64_t next = NowMs() + 1000;
    for (const auto& [id, connection] : connections_) next = std::min(next, connection.deadline_ms());
    return static_cast<int>(std::max<int64_t>(next - NowMs(), 0));
  }

  void TakeFinished() {
    uint64_t count = 0;
    static_cast<void>(!read(wake_.get(), &count, sizeof count));
    for (Finished& finished : pool_->TakeFinished()) {
      const auto found = connections_.find(finished.connection);
      if (found == connections_.end()) continue;
      Do(found->first, found->second.Reply(std::move(finished.bytes), finished.keep_alive, NowMs()));
    }
  }

  void OnEvents(uint64_t id, short events) {
    const auto found = connections_.find(id);
    if (events == 0 || found == connections_.end()) return;
    Connection& connection = found->second;
    if (events & POLLIN) return Do(id, connection.OnReadable(NowMs()));
    if (events & POLLOUT) return Do(id, connection.OnWritable(NowMs()));
    connections_.erase(found);  // reset or gone
  }

  void Do(uint64_t id, Step step) {
    const auto found = connections_.find(id);
    if (step == Step::kClose) {
      connections_.erase(found);
    } else if (step == Step::kRequest) {
      pool_->Put(id, found->second.TakeRequest());
    }
  }

  void Accept() {
    while (connections_.size() < options_.limits.connections) {
      base::Fd fd(accept4(listener_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.valid()) {
        // Out of descriptors: the queue stays readable, so look again later instead of spinning.
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) accept_again_ms_ = NowMs() + 200;
        return;
      }
      connections_.try_emplace(++last_id_, std::move(fd), options_.limits, NowMs());
    }
    CloseOneIdle();
  }

  // Makes room for a client that waits in the kernel's queue.
  void CloseOneIdle() {
    auto oldest = connections_.end();
    for (auto it = connections_.begin(); it != connections_.end(); ++it) {
      const bool older = oldest == connections_.end() || it->second.deadline_ms() < oldest->second.deadline_ms();
      if (it->second.idle() && older) oldest = it;
    }
    if (oldest != connections_.end()) connections_.erase(oldest);
  }

  void ExpireConnections() {
    std::vector<uint64_t> expired;
    const int64_t now = NowMs();
    for (const auto& [id, connection] : connections_) {
      if (connection.deadline_ms() <= now) expired.push_back(id);
    }
    for (uint64_t id : expired) Do(id, connections_.at(id).OnDeadline(now));
    if (connections_.size() >= options_.limits.connections) CloseOneIdle();
  }

  const pid_t pid_ = getpid();
  const ServerOptions options_;
  Listener listener_;
  const base::Fd wake_;
  std::atomic<bool> stopping_{false};
  // Used by the loop's thread only.
  std::map<uint64_t, Connection> connections_;
  std::vector<pollfd> polled_;
  std::vector<uint64_t> ids_;
  uint64_t last_id_ = 0;
  int64_t accept_again_ms_ = 0;

  std::unique_ptr<WorkerPool> pool_;
  std::thread loop_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler* handler) {
  Result<Listener> listener = Listen(options.address, options.port);
  if (!listener.ok()) return listener.status();
  if (!listener->loopback && options.token.empty()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("cannot serve on {}: others can reach it, so it needs a token; give one (--token-file), or "
                    "serve on 127.0.0.1",
                    options.address));
  }
  base::Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return Status(Code::kIo, "cannot start a server: this process has no free file descriptors");
  auto impl = std::make_unique<Impl>(std::move(options), *std::move(listener), std::move(wake), handler);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::~Server() {
  if (!impl_->of_this_process()) static_cast<void>(impl_.release());  // its threads are not here; leave it behind
}

int Server::port() const { return impl_->port(); }
std::string Server::url() const { return impl_->url(); }

void Server::Stop() {
  if (impl_->of_this_process()) impl_->Stop();
}

}  // namespace wf::net
