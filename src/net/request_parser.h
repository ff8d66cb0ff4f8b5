// ParseRequest: the bytes of a connection to one Request. Pure: no sockets, no clock.
//
// The bytes are hostile. Accepted is HTTP/1.0 and 1.1 with an optional body of stated length; lines may end in LF
// alone. Refused with a status: folded headers, spaces before a colon, control characters, contradictory lengths,
// chunked bodies (411), anything over Limits. After a refusal the rest of the connection has no meaning: answer and
// close.
#ifndef WF_NET_REQUEST_PARSER_H_
#define WF_NET_REQUEST_PARSER_H_

#include <string>
#include <string_view>

#include "net/http.h"
#include "net/limits.h"

namespace wf::net {

struct ParseResult {
  enum class Outcome { kIncomplete, kComplete, kRefused };
  Outcome outcome = Outcome::kIncomplete;
  Request request;                // when kComplete
  size_t consumed = 0;            // when kComplete: its length in bytes
  bool expects_continue = false;  // when kIncomplete: the head is there and the client waits for "100 Continue"
  int status = 0;                 // when kRefused
  std::string why;                // when kRefused, a sentence
};

ParseResult ParseRequest(std::string_view bytes, const Limits& limits);

}  // namespace wf::net

#endif  // WF_NET_REQUEST_PARSER_H_
