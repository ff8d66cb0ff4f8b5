// WriteResponse: a Response to the bytes of HTTP/1.1, always with Content-Length. Pure but for the date it is given.
#ifndef WF_NET_RESPONSE_WRITER_H_
#define WF_NET_RESPONSE_WRITER_H_

#include <ctime>
#include <string>
#include <string_view>

#include "net/http.h"

namespace wf::net {

struct ReplyTo {
  std::string method;           // HEAD gets the same head and no body
  std::string accept_encoding;  // decides on gzip
  bool keep_alive = false;
};

std::string WriteResponse(Response response, const ReplyTo& to, std::time_t now);

}  // namespace wf::net

#endif  // WF_NET_RESPONSE_WRITER_H_
