#include "net/request_parser.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

namespace wf::net {
namespace {

using Outcome = ParseResult::Outcome;

ParseResult Parse(std::string_view bytes) { return ParseRequest(bytes, Limits{}); }

struct Refusal {
  const char* rule;
  std::string bytes;
  int status;
};

TEST(RequestParserTest, ReadsACompleteRequest) {
  const std::string bytes = "GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nAccept: a\r\naccept:  b \r\n\r\nnext";
  const ParseResult result = Parse(bytes);
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.why;
  EXPECT_EQ(result.request.method, "GET");
  EXPECT_EQ(result.request.path, "/a b");
  EXPECT_EQ(result.request.query, "x=1");
  EXPECT_EQ(result.request.headers.Get("ACCEPT"), "a, b");
  EXPECT_TRUE(result.request.keep_alive);
  EXPECT_EQ(result.consumed, bytes.size() - 4);
}

TEST(RequestParserTest, EveryPrefixOfARequestIsIncomplete) {
  const std::string bytes = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Parse(bytes.substr(0, size)).outcome, Outcome::kIncomplete) << size;
  }
  EXPECT_EQ(Parse(bytes).request.body, "hello");
}

TEST(RequestParserTest, ConnectionIsKeptByVersionAndHeader) {
  EXPECT_FALSE(Parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n").request.keep_alive);
  EXPECT_FALSE(Parse("GET / HTTP/1.0\r\n\r\n").request.keep_alive);
  EXPECT_TRUE(Parse("GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n").request.keep_alive);
}

TEST(RequestParserTest, TakesWhatAServerMustTake) {
  EXPECT_EQ(Parse("\r\n\nGET http://h:1/p?q HTTP/1.1\r\nHost: h\r\n\r\n").request.path, "/p");
  EXPECT_EQ(Parse("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n").request.path, "/");
  EXPECT_EQ(Parse("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").request.path, "*");
  EXPECT_EQ(Parse("GET / HTTP/1.1\nHost: h\n\n").request.path, "/");
  EXPECT_TRUE(Parse("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n").expects_continue);
}

TEST(RequestParserTest, RefusesWithTheRightStatus) {
  const std::string host = "Host: h\r\n";
  const Refusal refusals[] = {
      {"three parts", "GET /\r\n\r\n", 400},
      {"a token as method", "G(T / HTTP/1.1\r\n\r\n", 400},
      {"a version we know", "GET / HTTP/2.0\r\n\r\n", 505},
      {"an HTTP version at all", "GET / FTP/1.1\r\n\r\n", 400},
      {"a path", "GET metrics HTTP/1.1\r\n\r\n", 400},
      {"the star is for OPTIONS", "GET * HTTP/1.1\r\n\r\n", 400},
      {"whole percent escapes", "GET /%2 HTTP/1.1\r\n\r\n", 400},
      {"no NUL in a path", "GET /%00 HTTP/1.1\r\n\r\n", 400},
      {"no second space", "GET /a b HTTP/1.1\r\n\r\n", 400},
      {"Host in 1.1", "GET / HTTP/1.1\r\n\r\n", 400},
      {"no space before the colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
      {"no folded headers", "GET / HTTP/1.1\r\n" + host + " folded\r\n\r\n", 400},
      {"no control characters", "GET / HTTP/1.1\r\n" + host + "A: \x01\r\n\r\n", 400},
      {"a number as length", "GET / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
      {"one length", "GET / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"no chunks", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n", 411},
      {"a bounded body", "GET / HTTP/1.1\r\n" + host + "Content-Length: 99999999999\r\n\r\n", 413},
      {"a bounded target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n", 414},
      {"a bounded line that never ends", "GET /" + std::string(40000, 'a'), 414},
      {"a bounded header", "GET / HTTP/1.1\r\nA: " + std::string(40000, 'a'), 431},
      {"few fields",
       "GET / HTTP/1.1\r\n" +
           [] {
             std::string many;
             for (int i = 0; i < 200; ++i) many += "A: b\r\n";
             return many;
           }() +
           "\r\n",
       431},
  };
  for (const Refusal& refusal : refusals) {
    const ParseResult result = Parse(refusal.bytes);
    EXPECT_EQ(result.outcome, Outcome::kRefused) << refusal.rule;
    EXPECT_EQ(result.status, refusal.status) << refusal.rule;
    EXPECT_FALSE(result.why.empty()) << refusal.rule;
  }
}

TEST(RequestParserTest, SurvivesMutatedRequests) {
  const std::string seed = "POST /a%41?b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc";
  std::mt19937 random(7);
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes = seed;
    for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    const ParseResult result = Parse(bytes);
    if (result.outcome == Outcome::kComplete) {
      ASSERT_LE(result.consumed, bytes.size());
    }
  }
}

}  // namespace
}  // namespace wf::net
