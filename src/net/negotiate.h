// Content negotiation: q-values of Accept and Accept-Encoding (RFC 9110, 12.5). Pure.
#ifndef WF_NET_NEGOTIATE_H_
#define WF_NET_NEGOTIATE_H_

#include <optional>
#include <span>
#include <string_view>

namespace wf::net {

// One thing that could be sent: "text/plain" with the parameters that tell it from others, as `version=0.0.4`.
struct MediaType {
  std::string_view type;     // "text/plain"
  std::string_view version;  // of its parameter "version"; empty: has none
};

// The q-value, 0 to 1, that an Accept header gives to `offer`: the most specific range that matches decides. An offer
// with a version matches ranges without one or with the same. 1 when the header is empty; malformed ranges are skipped.
double MediaQuality(std::string_view accept, const MediaType& offer);

// Index of the offer with the highest q-value, the first among equals; nullopt when all are refused.
std::optional<size_t> BestMedia(std::string_view accept, std::span<const MediaType> offers);

// Whether a body may and should be gzipped: gzip is named (or "*") with q > 0 and not liked less than identity.
bool PrefersGzip(std::string_view accept_encoding);

}  // namespace wf::net

#endif  // WF_NET_NEGOTIATE_H_
