// Who listens on a port, for the message of a bind that failed.
#ifndef WF_NET_PORT_OWNER_H_
#define WF_NET_PORT_OWNER_H_

#include <string>

namespace wf::net {

// "pid 4711 (prometheus)"; empty when it cannot be found: no such listener, or another user's.
std::string PortOwner(int port);

}  // namespace wf::net

#endif  // WF_NET_PORT_OWNER_H_
