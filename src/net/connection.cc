#include "net/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <limits>

#include "net/request_parser.h"
#include "net/response_writer.h"

namespace wf::net {
namespace {

constexpr int64_t kDrainMs = 1000;
constexpr size_t kDrainBytes = 256 * 1024;

bool IsTemporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(base::Fd fd, const Limits& limits, int64_t now_ms)
    : fd_(std::move(fd)), limits_(limits), deadline_ms_(now_ms + limits.request_ms) {}

Connection::~Connection() {
  // Also ends it for a process that was forked meanwhile and holds a copy of the descriptor.
  shutdown(fd_.get(), SHUT_RDWR);
}

short Connection::wanted_events() const {
  switch (state_) {
    case State::kReading:
    case State::kDraining: return POLLIN;
    case State::kWriting: return POLLOUT;
    case State::kHandling: return 0;
  }
  return 0;
}

Connection::Step Connection::OnReadable(int64_t now_ms) {
  if (state_ == State::kDraining) return ReadAndDrop();
  if (state_ != State::kReading) return Step::kWait;
  std::array<char, 16 * 1024> chunk;
  const ssize_t size = recv(fd_.get(), chunk.data(), chunk.size(), 0);
  if (size < 0) return IsTemporary(errno) ? Step::kWait : Step::kClose;
  if (size == 0) return Step::kClose;
  if (input_.empty()) deadline_ms_ = std::min(deadline_ms_, now_ms + limits_.request_ms);
  input_.append(chunk.data(), static_cast<size_t>(size));
  return ParseInput(now_ms);
}

Connection::Step Connection::ParseInput(int64_t now_ms) {
  ParseResult result = ParseRequest(input_, limits_);
  switch (result.outcome) {
    case ParseResult::Outcome::kRefused: return Refuse(result.status, result.why, now_ms);
    case ParseResult::Outcome::kIncomplete:
      if (result.expects_continue && !continue_sent_) {
        constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        continue_sent_ = true;
        // A full socket buffer here means a client that does not read: it then waits in vain, as it may.
        static_cast<void>(send(fd_.get(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL));
      }
      return Step::kWait;
    case ParseResult::Outcome::kComplete: break;
  }
  input_.erase(0, result.consumed);
  continue_sent_ = false;
  request_ = std::move(result.request);
  state_ = State::kHandling;
  deadline_ms_ = std::numeric_limits<int64_t>::max();
  return Step::kRequest;
}

Connection::Step Connection::Refuse(int status, std::string_view why, int64_t now_ms) {
  input_.clear();
  return Reply(WriteResponse(Response::Text(status, why), ReplyTo{}, std::time(nullptr)), false, now_ms);
}

Connection::Step Connection::Reply(std::string bytes, bool keep_alive, int64_t now_ms) {
  output_ = std::move(bytes);
  written_ = 0;
  keep_alive_ = keep_alive;
  state_ = State::kWriting;
  deadline_ms_ = now_ms + limits_.write_ms;
  return OnWritable(now_ms);
}

Connection::Step Connection::OnWritable(int64_t now_ms) {
  if (state_ != State::kWriting) return Step::kWait;
  while (written_ < output_.size()) {
    const ssize_t size = send(fd_.get(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL);
    if (size < 0) return IsTemporary(errno) ? Step::kWait : Step::kClose;
    written_ += static_cast<size_t>(size);
  }
  output_.clear();
  output_.shrink_to_fit();
  ++served_;
  if (!keep_alive_) {
    shutdown(fd_.get(), SHUT_WR);
    state_ = State::kDraining;
    deadline_ms_ = now_ms + kDrainMs;
    return Step::kWait;
  }
  state_ = State::kReading;
  deadline_ms_ = now_ms + (input_.empty() ? limits_.idle_ms : limits_.request_ms);
  return input_.empty() ? Step::kWait : ParseInput(now_ms);
}

Connection::Step Connection::ReadAndDrop() {
  std::array<char, 16 * 1024> chunk;
  const ssize_t size = recv(fd_.get(), chunk.data(), chunk.size(), 0);
  if (size < 0) return IsTemporary(errno) ? Step::kWait : Step::kClose;
  dropped_ += static_cast<size_t>(size);
  return size == 0 || dropped_ > kDrainBytes ? Step::kClose : Step::kWait;
}

Connection::Step Connection::OnDeadline(int64_t now_ms) {
  const bool amid_request = state_ == State::kReading && !input_.empty();
  return amid_request ? Refuse(408, "the request took too long to arrive", now_ms) : Step::kClose;
}

}  // namespace wf::net
