// The server over real sockets on loopback. Time limits are short here, and only lower bounds are asserted.
#include "net/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/fd.h"

namespace wf::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Echo : public Handler {
 public:
  Response Handle(const Request& request) override {
    // NOLINTNEXTLINE(bugprone-std-exception-baseclass): a handler may throw anything
    if (request.path == "/throw") throw 1;
    if (request.path == "/big") return Response::Text(200, std::string(8 << 20, 'x'));
    return Response::Text(200, request.method + " " + request.path + " " + request.body);
  }
};

class Client {
 public:
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    const timeval limit{60, 0};  // a test that hangs fails instead
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  bool connected() const { return connected_; }
  bool Send(std::string_view bytes) {
    return send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // Until the server closes, or `enough` is seen.
  std::string Read(std::string_view enough = "") {
    std::string all;
    char chunk[65536];
    for (;;) {
      if (!enough.empty() && all.find(enough) != std::string::npos) return all;
      const ssize_t size = recv(fd_.get(), chunk, sizeof chunk, 0);
      if (size <= 0) return all;
      all.append(chunk, static_cast<size_t>(size));
    }
  }
  void Reset() {
    const linger hard{1, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    fd_.Reset(-1);
  }

 private:
  base::Fd fd_;
  bool connected_ = false;
};

std::string Get(const std::string& path, const std::string& fields = "Connection: close\r\n") {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n";
}

int CountThreads() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}
int CountDescriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class ServerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Server> Started(ServerOptions options = {}) {
    Result<std::unique_ptr<Server>> server = Server::Start(std::move(options), &echo_);
    EXPECT_TRUE(server.ok()) << server.status().message();
    return std::move(server).value();
  }
  static ServerOptions On(const std::string& address, int port, const std::string& token) {
    ServerOptions options;
    options.address = address;
    options.port = port;
    options.token = token;
    return options;
  }
  static ServerOptions Quick() {
    ServerOptions options;
    options.limits.request_ms = 300;
    options.limits.idle_ms = 300;
    options.limits.write_ms = 300;
    return options;
  }
  Echo echo_;
};

TEST_F(ServerTest, AnswersAndKeepsTheConnection) {
  const auto server = Started();
  Client client(server->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(Get("/a", "")));
    EXPECT_THAT(client.Read("GET /a \n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  ASSERT_TRUE(client.Send(Get("/b", "") + Get("/c")));  // two at once
  const std::string both = client.Read();
  EXPECT_LT(both.find("GET /b"), both.find("GET /c"));
}

TEST_F(ServerTest, TricklingClientGetsNoMoreThanTheWholeRequestLimit) {
  const auto server = Started(Quick());
  Client trickler(server->port());
  const auto start = std::chrono::steady_clock::now();
  trickler.Send("GET / HT");
  bool refused = false;
  for (int i = 0; i < 600 && !refused; ++i) {  // each byte comes well within any limit per read
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    refused = !trickler.Send("T");
  }
  EXPECT_TRUE(refused);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300));
}

TEST_F(ServerTest, SlowRequestIsToldSo) {
  const auto server = Started(Quick());
  Client client(server->port());
  client.Send("GET / HTTP/1.1\r\n");
  EXPECT_THAT(client.Read(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(ServerTest, ManyTricklersDoNotKeepOthersOut) {
  const auto server = Started();
  std::vector<std::unique_ptr<Client>> tricklers;
  for (int i = 0; i < 40; ++i) {
    tricklers.push_back(std::make_unique<Client>(server->port()));
    tricklers.back()->Send("GET /");
  }
  Client client(server->port());
  client.Send(Get("/a"));
  EXPECT_THAT(client.Read(), HasSubstr("GET /a"));
}

TEST_F(ServerTest, IdleConnectionsGiveWayToNewOnes) {
  ServerOptions options;
  options.limits.connections = 3;
  const auto server = Started(std::move(options));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<Client>(server->port()));
    ASSERT_TRUE(clients.back()->Send(Get("/a", "")));
    EXPECT_THAT(clients.back()->Read("GET /a \n"), HasSubstr("GET /a")) << i;
  }
}

TEST_F(ServerTest, ClientsThatResetOrDoNotReadAreHarmless) {
  const auto server = Started(Quick());
  for (int i = 0; i < 20; ++i) {
    Client client(server->port());
    client.Send(Get("/big"));
    if (i % 2 == 0) client.Read("HTTP/1.1 200");
    client.Reset();
  }
  Client lazy(server->port());
  lazy.Send(Get("/big"));
  Client client(server->port());
  client.Send(Get("/a"));
  EXPECT_THAT(client.Read(), HasSubstr("GET /a"));
}

TEST_F(ServerTest, AHandlerThatThrowsIsA500) {
  const auto server = Started();
  Client client(server->port());
  client.Send(Get("/throw"));
  EXPECT_THAT(client.Read(), StartsWith("HTTP/1.1 500 "));
}

TEST_F(ServerTest, BodyIsReadAndContinueIsSent) {
  const auto server = Started();
  Client client(server->port());
  client.Send("PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.Read("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("hi");
  EXPECT_THAT(client.Read(), HasSubstr("PUT /a hi"));
}

TEST_F(ServerTest, TokenIsAskedForAndRequiredWhenOthersCanReachUs) {
  const Status open = Server::Start(On("0.0.0.0", 0, ""), &echo_).status();
  EXPECT_EQ(open.code(), Code::kInvalidArgument);
  EXPECT_THAT(open.message(), HasSubstr("token"));
  const auto server = Started(On("0.0.0.0", 0, "s3cret"));
  Client without(server->port());
  without.Send(Get("/a"));
  EXPECT_THAT(without.Read(), HasSubstr("401 Unauthorized\r\n"));
  Client with(server->port());
  with.Send(Get("/a", "Authorization: Bearer s3cret\r\nConnection: close\r\n"));
  EXPECT_THAT(with.Read(), HasSubstr("GET /a"));
}

TEST_F(ServerTest, SecondServerOnThePortFails) {
  const auto server = Started();
  const Status second = Server::Start(On("127.0.0.1", server->port(), ""), &echo_).status();
  EXPECT_EQ(second.code(), Code::kAlreadyExists);
  EXPECT_THAT(second.message(), HasSubstr(std::to_string(getpid())));
}

TEST_F(ServerTest, AHundredStartsAndStopsLeakNothing) {
  Started()->Stop();
  const int threads = CountThreads();
  const int descriptors = CountDescriptors();
  for (int i = 0; i < 100; ++i) {
    const auto server = Started();
    Client client(server->port());
    client.Send(Get("/a", ""));
    if (i % 2 == 0) client.Read("GET /a");
    server->Stop();
  }
  EXPECT_EQ(CountThreads(), threads);
  EXPECT_EQ(CountDescriptors(), descriptors);
}

TEST_F(ServerTest, ForkedChildDoesNotKeepThePort) {
  auto server = Started();
  const int port = server->port();
  int pipe_fds[2];
  int ready_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  ASSERT_EQ(pipe(ready_fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_fds[1]);
    server.reset();  // must neither hang nor touch the parent's server
    char byte = 0;
    if (write(ready_fds[1], &byte, 1) != 1) _exit(2);
    _exit(read(pipe_fds[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(pipe_fds[0]);
  char byte = 0;
  ASSERT_EQ(read(ready_fds[0], &byte, 1), 1);  // the child has dropped its copy
  Client client(port);
  client.Send(Get("/a"));
  EXPECT_THAT(client.Read(), HasSubstr("GET /a"));
  server->Stop();
  EXPECT_TRUE(Server::Start(On("127.0.0.1", port, ""), &echo_).ok()) << "while the child is alive";
  close(pipe_fds[1]);
  close(ready_fds[0]);
  close(ready_fds[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace wf::net
