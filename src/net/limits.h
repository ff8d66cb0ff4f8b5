// Limits: what one client may cost. The defaults suit a scraper and a browser on the same machine.
#ifndef WF_NET_LIMITS_H_
#define WF_NET_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace wf::net {

struct Limits {
  // For the whole request, from the connection or its first byte to its last; a client that trickles gets no more.
  int64_t request_ms = 10'000;
  int64_t idle_ms = 75'000;   // between requests of a kept connection: longer than common scrape intervals
  int64_t write_ms = 30'000;  // for the whole response
  size_t target_bytes = 8 * 1024;
  size_t head_bytes = 32 * 1024;
  size_t header_fields = 100;
  size_t body_bytes = 1024 * 1024;
  size_t connections = 64;  // more wait in the kernel's queue; idle ones are closed for them
  int workers = 2;          // threads that run the handler; one more thread does all I/O
};

}  // namespace wf::net

#endif  // WF_NET_LIMITS_H_
