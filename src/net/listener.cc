#include "net/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "net/port_owner.h"

namespace wf::net {
namespace {

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<AddressList> Resolve(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string host = address == "localhost" ? "127.0.0.1" : address;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0 || list == nullptr) {
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot listen on \"{}\": {}; give an address of this machine, such "
                              "as 127.0.0.1",
                              address, gai_strerror(error)));
  }
  return AddressList(list, freeaddrinfo);
}

Status BindFault(const std::string& address, int port, int error) {
  const std::string where = HostAndPort(address, port);
  if (error == EADDRINUSE) {
    const std::string owner = PortOwner(port);
    return Status(
        Code::kAlreadyExists,
        fmt::format("cannot listen on {}: port {} is in use{}; stop that process, or choose another port (0 takes "
                    "a free one)",
                    where, port, owner.empty() ? "" : " by " + owner));
  }
  const Code code = error == EACCES ? Code::kPermissionDenied : Code::kIo;
  return Status(code, fmt::format("cannot listen on {}: {}; choose an address of this machine and a port above 1023",
                                  where, std::strerror(error)));
}

bool IsLoopback(const sockaddr_storage& bound) {
  if (bound.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(bound).sin_addr.s_addr) >> 24) == 127;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(bound).sin6_addr);
}

}  // namespace

std::string HostAndPort(const std::string& address, int port) {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                : fmt::format("[{}]:{}", address, port);
}

Result<Listener> Listen(const std::string& address, int port) {
  if (port < 0 || port > 65535) {
    return Status(Code::kInvalidArgument, fmt::format("port {} is not between 0 and 65535", port));
  }
  Result<AddressList> resolved = Resolve(address, port);
  if (!resolved.ok()) return resolved.status();
  const addrinfo& target = **resolved;
  Listener listener;
  listener.fd = base::Fd(socket(target.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.fd.valid()) return BindFault(address, port, errno);
  const int on = 1;
  setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener.fd.get(), target.ai_addr, target.ai_addrlen) != 0 || listen(listener.fd.get(), 128) != 0) {
    return BindFault(address, port, errno);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return BindFault(address, port, errno);
  }
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, host.data(), host.size(), service.data(), service.size(),
              NI_NUMERICHOST | NI_NUMERICSERV);
  listener.address = host.data();
  listener.port = static_cast<int>(std::strtol(service.data(), nullptr, 10));
  listener.loopback = IsLoopback(bound);
  return listener;
}

}  // namespace wf::net
