// Uses the public headers as a stranger does; exits with 0 when the library does what they promise.
#include <wf/status.h>

#include <iostream>
#include <string>

namespace {

wf::Result<int> ParsePort(const std::string& text) {
  const int port = std::atoi(text.c_str());
  if (port <= 0) return wf::Status(wf::Code::kInvalidArgument, "no port: " + text);
  return port;
}

bool StatusesCarryTheirReason() {
  const wf::Status status = ParsePort("none").status().WithContext("--port");
  return ParsePort("80").ok() && status.code() == wf::Code::kInvalidArgument &&
         status.message() == "--port: no port: none" && wf::CodeName(status.code()) == "invalid argument";
}

}  // namespace

int main() {
  if (!StatusesCarryTheirReason()) {
    std::cerr << "wf::Status does not carry its reason\n";
    return 1;
  }
  return 0;
}
