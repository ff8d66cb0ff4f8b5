// Server: HTTP/1.1 on one TCP port, for a Handler.
//
// One thread does all I/O without blocking; `limits.workers` threads run the handler. So a client that trickles, does
// not read, or resets costs a slot and no thread, and the number of threads never grows. Signals are blocked in all of
// them. The handler must outlive the server.
// Fork: the child has none of the threads; it drops its copy of the listening socket, and destroying its Server is
// safe.
//
//   Result<std::unique_ptr<Server>> server = Server::Start(ServerOptions(), &handler);
//   if (!server.ok()) return server.status();
//   Print((*server)->port());
#ifndef WF_NET_SERVER_H_
#define WF_NET_SERVER_H_

#include <memory>
#include <string>

#include "net/http.h"
#include "net/limits.h"
#include "wf/status.h"

namespace wf::net {

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;       // 0: any free one
  std::string token;  // asked from every client as "Authorization: Bearer ..."; required when others can reach us
  Limits limits;
};

class Server {
 public:
  // Listens when it returns. InvalidArgument: an address that others can reach without a token, or no address.
  // AlreadyExists: the port is in use, with the owner's pid where it is known.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler* handler);
  ~Server();  // Stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // "http://127.0.0.1:8000"
  std::string url() const;

  // Closes the port and all connections; waits for handlers that run. Not from a handler. Twice is harmless.
  void Stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace wf::net

#endif  // WF_NET_SERVER_H_
