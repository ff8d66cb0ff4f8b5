// Bearer tokens (RFC 6750): who may talk to a server that others can reach.
#ifndef WF_NET_TOKEN_H_
#define WF_NET_TOKEN_H_

#include <string_view>

namespace wf::net {

// True when `authorization`, the header's value, carries `token`. The time it takes tells nothing about the token.
bool CarriesToken(std::string_view authorization, std::string_view token);

}  // namespace wf::net

#endif  // WF_NET_TOKEN_H_
