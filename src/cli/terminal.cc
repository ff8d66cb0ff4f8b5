#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace wf::cli {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view Locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (const std::string_view value = Environment(name); !value.empty()) return value;
  }
  return "";
}

}  // namespace

report::Style StyleOfOutput(const std::string& language) {
  report::Style style;
  style.language = report::LanguageOf(language.empty() ? Locale() : language);
  if (::isatty(STDOUT_FILENO) == 0) return style;
  style.color = Environment("NO_COLOR").empty() && Environment("TERM") != "dumb";
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  return style;
}

}  // namespace wf::cli
