#include "net/response_writer.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "net/token.h"

namespace wf::net {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Unzip(const std::string& zipped) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
  stream.avail_in = static_cast<uInt>(zipped.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::string Body(const std::string& bytes) { return bytes.substr(bytes.find("\r\n\r\n") + 4); }
std::string Head(const std::string& bytes) { return bytes.substr(0, bytes.find("\r\n\r\n") + 4); }

TEST(ResponseWriterTest, WritesHeadAndBody) {
  Response response = Response::Text(405, "no");
  response.headers.Add("Allow", "GET");
  const std::string bytes = WriteResponse(response, {"PUT", "", true}, 1764647951);
  EXPECT_THAT(bytes, StartsWith("HTTP/1.1 405 Method Not Allowed\r\nDate: Tue, 02 Dec 2025 03:59:11 GMT\r\n"));
  EXPECT_THAT(bytes, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(bytes, HasSubstr("Allow: GET\r\n"));
  EXPECT_THAT(bytes, EndsWith("Connection: keep-alive\r\n\r\nno\n"));
}

TEST(ResponseWriterTest, HeadIsTheHeadOfGet) {
  for (const char* encoding : {"", "gzip"}) {
    Response response = Response::Text(200, std::string(5000, 'x'));
    const std::string get = WriteResponse(response, {"GET", encoding, true}, 0);
    EXPECT_EQ(WriteResponse(response, {"HEAD", encoding, true}, 0), Head(get));
  }
}

TEST(ResponseWriterTest, GzipHeaderAndBodyAgree) {
  const Response response = Response::Text(200, std::string(5000, 'x'));
  const std::string zipped = WriteResponse(response, {"GET", "gzip", false}, 0);
  EXPECT_THAT(zipped, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(zipped, HasSubstr("Content-Length: " + std::to_string(Body(zipped).size()) + "\r\n"));
  EXPECT_EQ(Unzip(Body(zipped)), response.body);
  const std::string plain = WriteResponse(response, {"GET", "gzip;q=0", false}, 0);
  EXPECT_THAT(plain, Not(HasSubstr("Content-Encoding")));
  EXPECT_EQ(Body(plain), response.body);
}

TEST(ResponseWriterTest, NoContentHasNoBodyAndNoLength) {
  Response response;
  response.status = 204;
  EXPECT_THAT(WriteResponse(response, {"OPTIONS", "gzip", true}, 0), Not(HasSubstr("Content-")));
}

TEST(TokenTest, OnlyTheWholeTokenOpens) {
  EXPECT_TRUE(CarriesToken("Bearer abc", "abc"));
  EXPECT_TRUE(CarriesToken("bearer  abc ", "abc"));
  for (const char* wrong : {"", "abc", "Basic abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abcd", "Bearer abcabc"}) {
    EXPECT_FALSE(CarriesToken(wrong, "abc")) << wrong;
  }
}

}  // namespace
}  // namespace wf::net
