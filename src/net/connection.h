// Connection: one client's socket as a state machine, driven by the server's loop. Never blocks.
//
//   reading --request complete--> handling --Reply()--> writing --kept--> reading
//      |  refused, too slow                                |  not kept
//      +-----------> writing ------------------------------+--> draining --> closed
//
// Draining lets the client read the answer before the socket goes; closing at once would reset it. Used by one thread.
#ifndef WF_NET_CONNECTION_H_
#define WF_NET_CONNECTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "net/http.h"
#include "net/limits.h"

namespace wf::net {

class Connection {
 public:
  // What the loop does next with this connection.
  enum class Step { kWait, kRequest, kClose };

  Connection(base::Fd fd, const Limits& limits, int64_t now_ms);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  int fd() const { return fd_.get(); }
  // The events to poll for; 0: leave it out of the poll, a request of it is being handled.
  short wanted_events() const;
  // When OnDeadline is due; INT64_MAX while handling.
  int64_t deadline_ms() const { return deadline_ms_; }
  // Waits for a further request and has got no byte of it; may be closed at any time.
  bool idle() const { return state_ == State::kReading && served_ > 0 && input_.empty(); }

  Step OnReadable(int64_t now_ms);
  Step OnWritable(int64_t now_ms);
  Step OnDeadline(int64_t now_ms);

  // REQUIRES: a step returned kRequest since.
  Request TakeRequest() { return std::move(request_); }
  // The answer to it. May find a further request in what came already.
  Step Reply(std::string bytes, bool keep_alive, int64_t now_ms);

 private:
  enum class State { kReading, kHandling, kWriting, kDraining };

  Step ParseInput(int64_t now_ms);
  Step Refuse(int status, std::string_view why, int64_t now_ms);
  Step ReadAndDrop();

  base::Fd fd_;
  const Limits& limits_;
  State state_ = State::kReading;
  int64_t deadline_ms_;
  std::string input_;
  bool continue_sent_ = false;
  Request request_;
  std::string output_;
  size_t written_ = 0;
  bool keep_alive_ = false;
  uint64_t served_ = 0;
  size_t dropped_ = 0;
};

}  // namespace wf::net

#endif  // WF_NET_CONNECTION_H_
