#include "base/say.h"

#include <cstdio>
#include <exception>
#include <string>

namespace wf::base {

void Say(std::string_view sentence) noexcept try {
  std::string line = "wf: ";
  line += sentence;
  line += '\n';
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
} catch (const std::exception&) {  // no memory left for the line
}

}  // namespace wf::base
