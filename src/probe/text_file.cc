#include "probe/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "probe/proc_text.h"

namespace wf::probe {

std::optional<std::string> ReadText(const std::string& path, int* error) {
  constexpr size_t kMostBytes = 256 * 1024;
  const auto fail = [&]() -> std::optional<std::string> {
    if (error != nullptr) *error = errno;
    return std::nullopt;
  };
  const base::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail();
  std::string text;
  char buffer[4096];
  while (text.size() < kMostBytes) {
    const ssize_t got = read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail();
    if (got == 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<int64_t> ReadNumber(const std::string& path) {
  const std::optional<std::string> text = ReadText(path);
  if (!text) return std::nullopt;
  size_t used = 0;
  const int64_t value = ParseNumber(*text, 0, &used);
  if (used == 0 || used != text->size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace wf::probe
