// RunId: 128 bits, sortable by time of creation, unique without coordination.
//
// Format (ULID, https://github.com/ulid/spec): 48 bits of milliseconds since the Unix epoch, big-endian, then 80
// random bits. As text: 26 characters of Crockford's base 32, upper case; text order equals time order.
#ifndef WF_BASE_RUN_ID_H_
#define WF_BASE_RUN_ID_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wf::base {

struct RunId {
  std::array<uint8_t, 16> bytes{};

  // A fresh id. Within one process later calls give greater ids, also within one millisecond. Thread-safe.
  static RunId Make();
  // The inverse of ToString, in either case; nullopt when `text` is not 26 characters of the alphabet.
  static std::optional<RunId> Parse(std::string_view text);

  std::string ToString() const;
  bool IsNil() const { return *this == RunId{}; }

  auto operator<=>(const RunId&) const = default;
};

}  // namespace wf::base

#endif  // WF_BASE_RUN_ID_H_
