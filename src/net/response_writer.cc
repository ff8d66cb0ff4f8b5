#include "net/response_writer.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "net/gzip.h"
#include "net/negotiate.h"

namespace wf::net {
namespace {

// "Wed, 02 Dec 2026 03:49:11 GMT", whatever the locale.
std::string HttpDate(std::time_t now) {
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[static_cast<size_t>(utc.tm_wday)], utc.tm_mday,
                     kMonths[static_cast<size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void AppendField(std::string* out, std::string_view name, std::string_view value) {
  out->append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string WriteResponse(Response response, const ReplyTo& to, std::time_t now) {
  const bool has_body = response.status != 204;
  bool gzipped = false;
  if (has_body && !response.body.empty() && PrefersGzip(to.accept_encoding)) {
    if (std::optional<std::string> smaller = Gzip(response.body)) {
      response.body = *std::move(smaller);
      gzipped = true;
    }
  }
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", response.status, ReasonPhrase(response.status));
  AppendField(&out, "Date", HttpDate(now));
  if (has_body) {
    AppendField(&out, "Content-Type", response.content_type);
    AppendField(&out, "Content-Length", fmt::to_string(response.body.size()));
    if (gzipped) AppendField(&out, "Content-Encoding", "gzip");
    const std::string vary = response.headers.Get("Vary");
    AppendField(&out, "Vary", vary.empty() ? "Accept-Encoding" : vary + ", Accept-Encoding");
  }
  for (const auto& [name, value] : response.headers.fields()) {
    if (!EqualIgnoringCase(name, "Vary")) AppendField(&out, name, value);
  }
  AppendField(&out, "Connection", to.keep_alive ? "keep-alive" : "close");
  out.append("\r\n");
  if (has_body && to.method != "HEAD") out.append(response.body);
  return out;
}

}  // namespace wf::net
