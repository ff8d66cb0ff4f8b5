// Listener: a bound, listening TCP socket that nobody else can bind a second time.
#ifndef WF_NET_LISTENER_H_
#define WF_NET_LISTENER_H_

#include <string>

#include "base/fd.h"
#include "wf/status.h"

namespace wf::net {

struct Listener {
  base::Fd fd;          // non-blocking, closed on exec
  std::string address;  // numeric, as bound
  int port = 0;         // the real one, also when 0 was asked for
  bool loopback = false;
};

// Binds `address` (numeric, or a name; "localhost" is 127.0.0.1) and `port` (0: any free one). SO_REUSEADDR is set, so
// a restart need not wait, and SO_REUSEPORT is not, so two servers never share a port unnoticed. AlreadyExists names
// the port and, where /proc tells, the process that has it.
Result<Listener> Listen(const std::string& address, int port);

// "127.0.0.1:8000", "[::1]:8000".
std::string HostAndPort(const std::string& address, int port);

}  // namespace wf::net

#endif  // WF_NET_LISTENER_H_
