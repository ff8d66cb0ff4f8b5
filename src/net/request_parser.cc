#include "net/request_parser.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace wf::net {
namespace {

using Outcome = ParseResult::Outcome;

bool IsTokenChar(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  for (char c : text) {
    if (!IsTokenChar(c)) return false;
  }
  return !text.empty();
}

bool HasControls(std::string_view text) {
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F) return true;
  }
  return false;
}

ParseResult Refuse(int status, std::string_view why) {
  ParseResult result;
  result.outcome = Outcome::kRefused;
  result.status = status;
  result.why = why;
  return result;
}

// Length of the head with its empty line; nullopt when the empty line is not there yet.
std::optional<size_t> HeadLength(std::string_view bytes) {
  for (size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    if (bytes.substr(at + 1, 1) == "\n") return at + 2;
    if (bytes.substr(at + 1, 2) == "\r\n") return at + 3;
  }
  return std::nullopt;
}

// Takes one line, without its end, off `*head`. REQUIRES: there is one.
std::string_view TakeLine(std::string_view* head) {
  const size_t end = head->find('\n');
  std::string_view line = head->substr(0, end);
  head->remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

// Fills path and query; false when the target is none we know.
bool ParseTarget(std::string_view target, Request* request) {
  if (target == "*") {
    request->path = "*";
    return request->method == "OPTIONS";
  }
  for (std::string_view scheme : {"http://", "https://"}) {  // the form meant for proxies; servers must take it too
    if (!EqualIgnoringCase(target.substr(0, scheme.size()), scheme)) continue;
    const size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
    break;
  }
  target = target.substr(0, target.find('#'));
  if (!target.starts_with('/')) return false;
  const size_t question = target.find('?');
  const auto path = PercentDecode(target.substr(0, question));
  if (!path.has_value()) return false;
  request->path = *path;
  if (question != std::string_view::npos) request->query = target.substr(question + 1);
  return true;
}

// OK: status 0.
ParseResult ParseRequestLine(std::string_view line, const Limits& limits, Request* request) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Refuse(400, "the request line has not three parts");
  request->method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(request->method)) return Refuse(400, "the method is no HTTP token");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return version.starts_with("HTTP/") ? Refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
                                        : Refuse(400, "the request line does not end in an HTTP version");
  }
  request->minor_version = version.back() - '0';
  if (target.size() > limits.target_bytes) return Refuse(414, "the target is too long");
  if (HasControls(target) || target.find(' ') != std::string_view::npos || !ParseTarget(target, request)) {
    return Refuse(400, "the target is not a path");
  }
  return ParseResult();
}

ParseResult ParseFields(std::string_view head, const Limits& limits, Request* request) {
  for (size_t count = 0; !head.empty(); ++count) {
    const std::string_view line = TakeLine(&head);
    if (line.empty()) break;
    if (count >= limits.header_fields) return Refuse(431, "there are too many header fields");
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
      return Refuse(400, "a header field has no proper name");  // folded lines end here as well
    }
    const std::string_view value = TrimSpaces(line.substr(colon + 1));
    if (HasControls(value)) return Refuse(400, "a header field contains control characters");
    request->headers.Add(line.substr(0, colon), value);
  }
  return ParseResult();
}

// The stated length of the body; nullopt when the fields contradict each other.
std::optional<size_t> BodyLength(const Headers& headers) {
  std::optional<size_t> length;
  for (const auto& [name, value] : headers.fields()) {
    if (!EqualIgnoringCase(name, "Content-Length")) continue;
    size_t one = 0;
    const auto end = std::from_chars(value.data(), value.data() + value.size(), one);
    if (end.ec != std::errc() || end.ptr != value.data() + value.size() || (length.has_value() && *length != one)) {
      return std::nullopt;
    }
    length = one;
  }
  return length.value_or(0);
}

bool ListHas(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (EqualIgnoringCase(TrimSpaces(list.substr(0, comma)), wanted)) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

ParseResult ParseBody(std::string_view rest, size_t head_length, const Limits& limits, Request request) {
  if (request.headers.Has("Transfer-Encoding")) return Refuse(411, "send the body with a Content-Length, not chunked");
  const std::optional<size_t> length = BodyLength(request.headers);
  if (!length.has_value()) return Refuse(400, "Content-Length is not one number");
  if (*length > limits.body_bytes) return Refuse(413, "the body is too large");
  ParseResult result;
  if (rest.size() < *length) {
    result.expects_continue = EqualIgnoringCase(request.headers.Get("Expect"), "100-continue");
    return result;
  }
  const std::string connection = request.headers.Get("Connection");
  request.keep_alive = request.minor_version == 1 ? !ListHas(connection, "close") : ListHas(connection, "keep-alive");
  request.body = rest.substr(0, *length);
  result.outcome = Outcome::kComplete;
  result.request = std::move(request);
  result.consumed = head_length + *length;
  return result;
}

}  // namespace

ParseResult ParseRequest(std::string_view bytes, const Limits& limits) {
  size_t skipped = 0;  // empty lines before a request are to be ignored
  while (skipped < bytes.size() && (bytes[skipped] == '\r' || bytes[skipped] == '\n')) ++skipped;
  const std::string_view from = bytes.substr(skipped);
  const std::optional<size_t> head_length = HeadLength(from);
  if (head_length.value_or(from.size()) > limits.head_bytes) {
    const bool one_line = from.find('\n') == std::string_view::npos;
    return one_line ? Refuse(414, "the target is too long") : Refuse(431, "the header is too large");
  }
  if (!head_length.has_value()) return ParseResult();
  std::string_view head = from.substr(0, *head_length);
  Request request;
  ParseResult refused = ParseRequestLine(TakeLine(&head), limits, &request);
  if (refused.status != 0) return refused;
  refused = ParseFields(head, limits, &request);
  if (refused.status != 0) return refused;
  if (request.minor_version == 1 && !request.headers.Has("Host"))
    return Refuse(400, "an HTTP/1.1 request needs a Host");
  return ParseBody(from.substr(*head_length), skipped + *head_length, limits, std::move(request));
}

}  // namespace wf::net
