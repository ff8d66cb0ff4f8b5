// Gzip: a body as one gzip member, at the fastest level: pages are made on the machine that is being measured.
#ifndef WF_NET_GZIP_H_
#define WF_NET_GZIP_H_

#include <optional>
#include <string>
#include <string_view>

namespace wf::net {

// nullopt when zlib refuses (no memory): send the body as it is.
std::optional<std::string> Gzip(std::string_view body);

}  // namespace wf::net

#endif  // WF_NET_GZIP_H_
