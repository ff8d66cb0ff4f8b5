#include "probe/proc_text.h"

#include <unistd.h>

#include <charconv>

#include "probe/own_io.h"

namespace wf::probe {

int64_t ParseNumber(std::string_view text, int64_t fallback, size_t* used) {
  const size_t start = text.find_first_not_of(" \t");
  if (used != nullptr) *used = 0;
  if (start == std::string_view::npos) return fallback;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc()) return fallback;
  if (used != nullptr) *used = static_cast<size_t>(end - text.data());
  return value;
}

int64_t FieldNumber(std::string_view text, std::string_view name, int64_t fallback) {
  size_t at = 0;
  while (at < text.size()) {
    if (text.compare(at, name.size(), name) == 0) return ParseNumber(text.substr(at + name.size()), fallback);
    at = text.find('\n', at);
    if (at == std::string_view::npos) break;
    ++at;
  }
  return fallback;
}

std::string_view ReadStart(int fd, char* buffer, size_t size) {
  if (fd < 0) return {};
  const ssize_t got = pread(fd, buffer, size, 0);
  OwnIo::CountRead(got);
  return got > 0 ? std::string_view(buffer, static_cast<size_t>(got)) : std::string_view();
}

int64_t ReadKilobytesField(int fd, std::string_view name) {
  char buffer[4096];
  const int64_t kilobytes = FieldNumber(ReadStart(fd, buffer, sizeof buffer), name, -1);
  return kilobytes < 0 || kilobytes > INT64_MAX / 1024 ? -1 : kilobytes * 1024;
}

}  // namespace wf::probe
