// The vocabulary of this room: a request, a response, and the Handler between them. Knows no route.
#ifndef WF_NET_HTTP_H_
#define WF_NET_HTTP_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wf::net {

bool EqualIgnoringCase(std::string_view a, std::string_view b);
std::string_view TrimSpaces(std::string_view text);

// Header fields in the order they came. Names compare without case.
class Headers {
 public:
  void Add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  bool Has(std::string_view name) const;
  // The value; several fields of one name joined by ", ", as HTTP has it; empty when there is none.
  std::string Get(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// A complete request. Everything in it came from outside and is hostile; sizes are bounded by Limits.
struct Request {
  std::string method;  // as sent, an HTTP token: "GET"
  std::string path;    // percent-decoded, starts with '/'; "*" for OPTIONS *
  std::string query;   // as sent, without '?'
  int minor_version = 1;
  Headers headers;
  std::string body;
  bool keep_alive = true;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  Headers headers;  // further fields: Allow, Vary, ...; never Content-Length, Content-Encoding, Connection, Date

  static Response Text(int status, std::string_view sentence);
};

std::string_view ReasonPhrase(int status);

// Answers requests. Called from the server's worker threads, several at a time; must not throw and should return within
// a second. It may ignore HEAD: the server sends the headers of the answer without its body.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual Response Handle(const Request& request) = 0;
};

}  // namespace wf::net

#endif  // WF_NET_HTTP_H_
