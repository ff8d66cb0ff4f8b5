#include "base/say.h"

#include <sys/uio.h>
#include <unistd.h>

#include <array>

namespace wf::base {
namespace {

iovec Part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

void Say(std::string_view sentence) noexcept {
  const std::array<iovec, 3> line = {Part("wf: "), Part(sentence), Part("\n")};
  (void)!::writev(STDERR_FILENO, line.data(), line.size());
}

}  // namespace wf::base
